import { Injectable } from '@nestjs/common';
import { Invalid } from '../common/errors/errors.js';
import { forkMismatch, type ForkRule } from '../code-hosts/forks.js';
import {
  filterMismatch,
  InvalidFilters,
  parseWebhookFilters,
  type WebhookFilters,
} from '../code-hosts/filters.js';
import { parseRecord } from '../common/records.js';
import { Yielder } from '../common/yielder.js';
import { eventMismatch, type ReceiverKind } from './receiver-kinds.js';
import {
  WebhookDeliveriesRepository,
  type StoredDelivery,
} from './webhook-deliveries.repository.js';

/** Maximum number of tested deliveries, and maximum total size of their bodies in bytes. */
const TEST_LIMITS = { rows: 100, bytes: 32 * 1024 * 1024 };

/** Result of testing the filters against one stored delivery. */
export interface FilterTestResult {
  delivery: number;
  received: Date;
  event: string;
  ref_name: string | null;
  verdict: string;
  launches: boolean;
  /** Reason why the delivery would not launch a run; empty if it would. */
  reason: string;
}

/**
 * Tests filters against the newest deliveries of a template whose payload is stored
 * (docs/contract/webhooks.md#filters).
 */
@Injectable()
export class FilterTester {
  constructor(private readonly deliveries: WebhookDeliveriesRepository) {}

  /** @throws Invalid for filters that cannot be stored */
  async run(
    templateId: number,
    kind: ReceiverKind,
    { filters, forks }: { filters: unknown; forks: ForkRule },
  ): Promise<{ launches: number; count: number; results: FilterTestResult[] }> {
    const rules = { filters: readFilters(filters), forks };
    const deliveries = await this.deliveries.newestWithPayload(templateId, TEST_LIMITS);
    const results: FilterTestResult[] = [];
    const yielder = new Yielder();
    for (const delivery of deliveries) {
      results.push(testDelivery(delivery, kind, rules));
      await yielder.yieldIfDue();
    }
    const launches = results.filter((result) => result.launches).length;
    return { launches, count: results.length, results };
  }
}

function readFilters(filters: unknown): WebhookFilters {
  try {
    return parseWebhookFilters(filters);
  } catch (error) {
    if (!(error instanceof InvalidFilters)) throw error;
    throw Invalid.field('webhook_filters', error.faults.join(' '));
  }
}

function testDelivery(
  delivery: StoredDelivery,
  kind: ReceiverKind,
  { filters, forks }: { filters: WebhookFilters; forks: ForkRule },
): FilterTestResult {
  const { id, received, service, event: type, ref_name, verdict } = delivery;
  const payload = parseRecord(delivery.payload);
  const event = { service, type, refName: ref_name, payload };
  const reason =
    eventMismatch(kind, event) ?? forkMismatch(forks, event) ?? filterMismatch(filters, event);
  const launches = reason === null;
  return { delivery: id, received, event: type, ref_name, verdict, launches, reason: reason ?? '' };
}
