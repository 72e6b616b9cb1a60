import { Injectable } from '@nestjs/common';
import { Invalid } from '../common/errors/errors.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import {
  filterObjection,
  webhookFilterFaults,
  type WebhookFilters,
} from '../code-hosts/filters.js';
import { eventObjection, type ReceiverKind } from './receiver-kinds.js';
import type { WebhookServiceName } from '../code-hosts/services.js';

/** Newest deliveries that are looked at. */
const MAX_DELIVERIES = 100;
/** And how much of their payloads is read into memory at once. */
const MAX_BYTES = 32 * 1024 * 1024;

/** What would have become of one stored delivery. */
export interface TrialResult {
  delivery: number;
  received: Date;
  event: string;
  ref_name: string | null;
  verdict: string;
  launches: boolean;
  /** Why it would not have launched. */
  reason: string;
}

interface StoredDelivery {
  id: number;
  received: Date;
  service: WebhookServiceName;
  event: string;
  ref_name: string | null;
  verdict: string;
  payload: string;
}

/** Tries filters on the deliveries a template has received (docs/contract/webhooks.md#filters). */
@Injectable()
export class FilterTrial {
  constructor(private readonly database: Database) {}

  /** @throws Invalid for filters that could not be stored */
  async run(
    templateId: number,
    kind: ReceiverKind,
    filters: unknown,
  ): Promise<{ launches: number; count: number; results: TrialResult[] }> {
    const faults = webhookFilterFaults(filters);
    if (faults.length > 0) throw Invalid.field('webhook_filters', faults.join(' '));
    const deliveries = await this.deliveries(templateId);
    const results = deliveries.map((one) => tryOn(one, kind, filters as WebhookFilters));
    const launches = results.filter((result) => result.launches).length;
    return { launches, count: results.length, results };
  }

  private deliveries(templateId: number): Promise<StoredDelivery[]> {
    return this.database.rows<StoredDelivery>(sql`
      SELECT id, received, service, event, ref_name, verdict, payload FROM (
        SELECT newest.*, sum(size) OVER (ORDER BY id DESC) AS bytes FROM (
          SELECT id, received, service, event, ref_name, verdict, payload, size
          FROM webhook_deliveries
          WHERE template_id = ${templateId} AND payload IS NOT NULL
          ORDER BY id DESC LIMIT ${MAX_DELIVERIES}) newest) summed
      WHERE bytes <= ${MAX_BYTES} ORDER BY id DESC`);
  }
}

function tryOn(delivery: StoredDelivery, kind: ReceiverKind, filters: WebhookFilters): TrialResult {
  const { id, received, service, event: type, ref_name, verdict } = delivery;
  const payload = JSON.parse(delivery.payload) as Record<string, unknown>;
  const event = { service, type, refName: ref_name, payload };
  const reason = eventObjection(kind, event) ?? filterObjection(filters, event);
  const launches = reason === null;
  return { delivery: id, received, event: type, ref_name, verdict, launches, reason: reason ?? '' };
}
