import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { UnsealError } from '../common/crypto/secret-box.js';
import { failPoint } from '../common/fail-point.js';
import { BadRequest, Conflict, Forbidden, Invalid, NotFound } from '../common/errors/errors.js';
import { entryOf, existing, itemAt, zip } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { BROKEN_REFERENCE, sqlState } from '../database/sql-state.js';
import type { IncomingDelivery, DeliveryOutcome, Verdict } from './delivery.js';
import type { ParsedDelivery } from './delivery-rows.js';
import {
  WebhookDeliveriesRepository,
  type DeliveredRun,
  type Original,
} from './webhook-deliveries.repository.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import { forkMismatch, isFromFork } from '../code-hosts/forks.js';
import { filterMismatch, InvalidFilters, parseWebhookFilters } from '../code-hosts/filters.js';
import { isCoalesced, PushCoalescer } from './push-coalescer.service.js';
import { eventMismatch } from './receiver-kinds.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import { Launchers, type TypedRequest } from '../launching/launchers.service.js';
import { TemplatesRepository } from '../templates/templates.repository.js';

/** A verified and parsed delivery. */
export interface DeliveryInput extends Omit<IncomingDelivery, 'templateId' | 'service'> {
  template: ReceiverTemplate;
  event: WebhookEvent;
  /** Called with the id of the delivery's record, inside its transaction. */
  audit?: (deliveryId: number) => void;
}

export interface DeliveryResult {
  verdict: Verdict;
  reason: string;
  delivery: number;
  run: DeliveredRun | null;
}

/** A delivery that is about to launch a run of its template. */
interface Arrival {
  delivery: ParsedDelivery;
  template: ReceiverTemplate;
}

/** An arrival that is not a repetition, with the id of its delivery. */
interface AcceptedArrival extends Arrival {
  id: number;
}

/**
 * Maximum number of deliveries per transaction; each batch size is a separate prepared statement.
 */
const MAX_BATCH = 16;
/**
 * Body size, in bytes, from which a delivery has a separate transaction, so that other deliveries
 * do not wait for it.
 */
const LARGE = 256 * 1024;

/**
 * Processes webhook events: event rules, filters, deduplication and launch
 * (docs/contract/webhooks.md#order-of-a-delivery). Simultaneous deliveries share one transaction
 * with the same number of statements as a single delivery (docs/decisions/0111-webhook-deliveries.md).
 */
@Injectable()
export class DeliveryIntake {
  private readonly batch = new Batch(
    (arrivals: readonly Arrival[]) => this.processBatch(arrivals),
    MAX_BATCH,
  );

  constructor(
    private readonly database: Database,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly coalescer: PushCoalescer,
    private readonly launchers: Launchers,
    private readonly templates: TemplatesRepository,
  ) {}

  async process({ template, audit, ...incoming }: DeliveryInput): Promise<DeliveryResult> {
    const delivery: ParsedDelivery = {
      ...incoming,
      templateId: template.id,
      service: incoming.event.service,
    };
    try {
      const mismatch = mismatchOf(delivery.event, template);
      if (mismatch !== null) {
        const outcome: DeliveryOutcome = { verdict: 'ignored', reason: mismatch, answer: 200 };
        return await this.record(delivery, outcome, audit);
      }
      return await this.launchCurrent({ delivery, template }, audit);
    } catch (error) {
      const reason = refusalOf(error);
      if (reason === null) throw error;
      const outcome: DeliveryOutcome = { verdict: 'rejected', reason, answer: 400 };
      return this.record(delivery, outcome, audit);
    }
  }

  /**
   * Launches a second time if an object of the launch was deleted meanwhile, because code hosts do not
   * repeat a delivery: the second launch is without it.
   */
  private async launchCurrent(
    arrival: Arrival,
    audit: DeliveryInput['audit'],
  ): Promise<DeliveryResult> {
    try {
      return await this.launch(arrival, audit);
    } catch (error) {
      if (sqlState(error) !== BROKEN_REFERENCE) throw error;
      const { delivery, template } = arrival;
      const [current] = await this.templates.receiving([template.id]);
      const credentialId = current?.credentialId ?? null;
      return this.launch({ delivery, template: { ...template, credentialId } }, audit);
    }
  }

  private launch(arrival: Arrival, audit: DeliveryInput['audit']): Promise<DeliveryResult> {
    const { delivery, template } = arrival;
    const launchAlone = (): Promise<DeliveryResult> =>
      this.coalescer.serialize(template, delivery.event, async () => {
        const result = itemAt(await this.processBatch([arrival]), 0);
        audit?.(result.delivery);
        return result;
      });
    // Inside a caller's transaction only the launch is undone: the refusal is recorded in that
    // transaction.
    if (this.database.inTransaction) return this.database.savepoint(launchAlone);
    // A delivery with an `audit` callback needs a transaction of its own; coalesced pushes run
    // one after another.
    const canBatch = !audit && !isCoalesced(template, delivery.event) && delivery.size < LARGE;
    return canBatch ? this.batch.run(arrival) : launchAlone();
  }

  /** Stores deliveries, their runs and all dependent rows, atomically. */
  private processBatch(arrivals: readonly Arrival[]): Promise<DeliveryResult[]> {
    return this.database.transaction(async () => {
      const ids = new Map(zip(arrivals, await this.deliveries.accept(arrivals)));
      failPoint('delivery-recorded');
      const accepted = arrivals.flatMap((arrival) => {
        const id = entryOf(ids, arrival);
        return id === null ? [] : [{ ...arrival, id }];
      });
      const launched = await this.launchAll(accepted);
      const repeated = arrivals.filter((arrival) => entryOf(ids, arrival) === null);
      const duplicates = (await this.recordDuplicates(repeated)).values();
      return arrivals.map((arrival) => {
        const run = launched.get(entryOf(ids, arrival) ?? 0);
        return run ?? existing(duplicates.next().value, 'every repetition is recorded');
      });
    });
  }

  /** @returns results of deliveries by their ids */
  private async launchAll(
    accepted: readonly AcceptedArrival[],
  ): Promise<Map<number, DeliveryResult>> {
    if (accepted.length === 0) return new Map();
    for (const { template, delivery, id } of accepted) {
      await this.coalescer.replaceEarlier(template, delivery.event, id);
    }
    const runs = await this.launchers.launch(accepted.map(requestOf), null);
    const ids = accepted.map(({ id }) => id);
    await this.deliveries.setRuns(zip(ids, runs));
    return new Map(
      zip(ids, runs).map(([id, run]) => [
        id,
        { verdict: 'accepted', reason: '', delivery: id, run },
      ]),
    );
  }

  private async recordDuplicates(arrivals: readonly Arrival[]): Promise<DeliveryResult[]> {
    if (arrivals.length === 0) return [];
    const duplicates = zip(arrivals, await this.deliveries.originals(arrivals)).map(
      ([{ delivery }, first]) => ({
        delivery,
        outcome: outcomeOf(delivery, first),
        run: first?.run ?? null,
      }),
    );
    const ids = await this.deliveries.record(
      duplicates.map(({ run, ...duplicate }) => ({ ...duplicate, job: run?.id ?? null })),
    );
    return zip(ids, duplicates).map(([delivery, { outcome, run }]) => {
      const { verdict, reason } = outcome;
      return { verdict, reason, delivery, run };
    });
  }

  private record(
    delivery: ParsedDelivery,
    outcome: DeliveryOutcome,
    audit: DeliveryInput['audit'],
  ): Promise<DeliveryResult> {
    return this.database.transaction(async () => {
      const id = itemAt(await this.deliveries.record([{ delivery, outcome, job: null }]), 0);
      audit?.(id);
      return { verdict: outcome.verdict, reason: outcome.reason, delivery: id, run: null };
    });
  }
}

function requestOf({ template, delivery, id }: AcceptedArrival): TypedRequest {
  const { event } = delivery;
  const { id: templateId, kind, credentialId, forks } = template;
  const { service, guid, ref } = event;
  return {
    templateType: kind.type,
    templateId,
    launchType: 'webhook',
    prompts: {},
    createdBy: null,
    // Used only if the project permits another branch and the template prompts for it.
    scmBranch: ref,
    webhook: { service, credentialId, guid, deliveryId: id },
    isHeld: forks === 'approval' && isFromFork(event),
  };
}

function outcomeOf({ event }: ParsedDelivery, first: Original | undefined): DeliveryOutcome {
  const same = first?.guid === event.guid ? 'id' : 'body';
  const reason = first ? `Delivery ${first.id} had the same ${same}.` : 'It was received before.';
  return { verdict: 'duplicate', reason, answer: 202 };
}

function mismatchOf(event: WebhookEvent, template: ReceiverTemplate): string | null {
  return (
    eventMismatch(template.kind, event) ??
    forkMismatch(template.forks, event) ??
    filterMismatch(parseWebhookFilters(template.filters ?? {}), event)
  );
}

/**
 * Returns the reason why a template cannot be launched in its current state; null for other errors.
 */
function refusalOf(error: unknown): string | null {
  if (error instanceof Invalid) return `The template cannot be launched: ${textsOf(error.errors)}`;
  const isRefusal =
    error instanceof InvalidFilters ||
    error instanceof BadRequest ||
    error instanceof Conflict ||
    error instanceof Forbidden ||
    error instanceof NotFound ||
    error instanceof UnsealError;
  return isRefusal ? `The template cannot be launched: ${error.message}` : null;
}

function textsOf(errors: unknown): string {
  if (typeof errors === 'string') return errors;
  if (Array.isArray(errors)) return errors.map(textsOf).join(' ');
  if (typeof errors !== 'object' || errors === null) return '';
  return Object.entries(errors)
    .map(([field, inner]) => `${field}: ${textsOf(inner)}`)
    .join(' ');
}
