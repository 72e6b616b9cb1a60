import { Injectable } from '@nestjs/common';
import { failPoint } from '../common/fail-point.js';
import { BadRequest, Conflict, Forbidden, Invalid, NotFound } from '../common/errors/errors.js';
import { Database } from '../database/database.js';
import type { IncomingDelivery, Outcome, Verdict } from './delivery.js';
import { WebhookDeliveriesRepository, type DeliveredRun } from './webhook-deliveries.repository.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import { forkObjection } from '../code-hosts/forks.js';
import { filterObjection, InvalidFilters, parseWebhookFilters } from '../code-hosts/filters.js';
import { PushCoalescer } from './push-coalescer.service.js';
import { eventObjection } from './receiver-kinds.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import { RunLauncher } from './run-launcher.service.js';

/** A delivery that is verified and read. */
export interface Intake extends Omit<IncomingDelivery, 'templateId' | 'service'> {
  template: ReceiverTemplate;
  event: WebhookEvent;
  /** Told of the record, in its transaction. */
  recorded?: (deliveryId: number) => void;
}

/** What came of a delivery. */
export interface TakenDelivery {
  verdict: Verdict;
  reason: string;
  delivery: number;
  run: DeliveredRun | null;
}

type Known = IncomingDelivery & { event: WebhookEvent };

/**
 * From an event to a run: event rules, filters, dedupe and launch
 * (docs/contract/webhooks.md#order-of-a-delivery).
 */
@Injectable()
export class DeliveryIntake {
  constructor(
    private readonly database: Database,
    private readonly ledger: WebhookDeliveriesRepository,
    private readonly coalescer: PushCoalescer,
    private readonly launcher: RunLauncher,
  ) {}

  async take({ template, recorded, ...rest }: Intake): Promise<TakenDelivery> {
    const delivery: Known = { ...rest, templateId: template.id, service: rest.event.service };
    try {
      const objection = objectionTo(delivery.event, template);
      if (objection !== null) {
        const outcome: Outcome = { verdict: 'ignored', reason: objection, answer: 200 };
        return await this.record(delivery, outcome, null, recorded);
      }
      // In somebody's transaction, only the launch is undone: its refusal is recorded there.
      return await this.database.savepoint(() => this.launch(delivery, template, recorded));
    } catch (error) {
      const reason = refusalOf(error);
      if (reason === null) throw error;
      const outcome: Outcome = { verdict: 'rejected', reason, answer: 400 };
      return this.record(delivery, outcome, null, recorded);
    }
  }

  /** Delivery, job and whatever follows from it: all or nothing. */
  private launch(
    delivery: Known,
    template: ReceiverTemplate,
    recorded: Intake['recorded'],
  ): Promise<TakenDelivery> {
    return this.coalescer.inTurn(template, delivery.event, async () => {
      const id = await this.ledger.accept(delivery, template);
      if (id === null) return this.duplicate(delivery, recorded);
      failPoint('delivery-recorded');
      await this.coalescer.replaceEarlier(template, delivery.event, id);
      const run = await this.launcher.launch(template, delivery.event, id);
      await this.ledger.setJob(id, run.id);
      recorded?.(id);
      return { verdict: 'accepted', reason: '', delivery: id, run };
    });
  }

  private async duplicate(delivery: Known, recorded: Intake['recorded']): Promise<TakenDelivery> {
    const first = await this.ledger.first(delivery);
    const same = first?.guid === delivery.event.guid ? 'id' : 'body';
    const reason = first ? `Delivery ${first.id} had the same ${same}.` : 'It was received before.';
    const outcome: Outcome = { verdict: 'duplicate', reason, answer: 202 };
    return this.record(delivery, outcome, first?.run ?? null, recorded);
  }

  private record(
    delivery: Known,
    outcome: Outcome,
    run: DeliveredRun | null,
    recorded: Intake['recorded'],
  ): Promise<TakenDelivery> {
    return this.database.transaction(async () => {
      const id = await this.ledger.record(delivery, outcome, run?.id);
      recorded?.(id);
      return { verdict: outcome.verdict, reason: outcome.reason, delivery: id, run };
    });
  }
}

function objectionTo(event: WebhookEvent, template: ReceiverTemplate): string | null {
  return (
    eventObjection(template.kind, event) ??
    forkObjection(template.forks, event) ??
    filterObjection(parseWebhookFilters(template.filters ?? {}), event)
  );
}

/** Why a template cannot be launched as it stands; null for errors that are not about that. */
function refusalOf(error: unknown): string | null {
  if (error instanceof Invalid) return `The template cannot be launched: ${textsOf(error.errors)}`;
  const isRefusal =
    error instanceof InvalidFilters ||
    error instanceof BadRequest ||
    error instanceof Conflict ||
    error instanceof Forbidden ||
    error instanceof NotFound;
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
