import { createHash } from 'node:crypto';
import type { WebhookEvent } from '../code-hosts/event.js';
import { raw, sql, type Sql } from '../database/sql.js';
import type { IncomingDelivery, DeliveryOutcome, Verdict } from './delivery.js';

export type ParsedDelivery = IncomingDelivery & { event: WebhookEvent };

/** A delivery that is about to launch, with the template option that affects deduplication. */
export interface LaunchingDelivery {
  delivery: ParsedDelivery;
  template: { dedupesBody: boolean };
}

/** A delivery that launches nothing. */
export interface RecordedDelivery {
  delivery: IncomingDelivery;
  outcome: DeliveryOutcome;
  /** Run that an earlier copy of the delivery launched; null: none. */
  job: number | null;
}

/** A delivery as a table row. */
export interface DeliveryRow extends RecordedDelivery {
  dedupe: DedupeKeys;
}

/** Deduplication keys. A null key disables its check. */
interface DedupeKeys {
  key: string | null;
  /** Lifetime of the key in seconds; null: unlimited. */
  seconds: number | null;
  /** Digest of the payload. */
  body: string | null;
}

const NO_KEYS: DedupeKeys = { key: null, seconds: null, body: null };

const ACCEPTED: DeliveryOutcome = { verdict: 'accepted', reason: '', answer: 202 };

/** Verdicts whose payload is kept: a job, a redelivery or a filter test can need it. */
const KEEPS_PAYLOAD: ReadonlySet<Verdict> = new Set(['accepted', 'ignored']);

/**
 * Returns the deduplication key of a delivery. The prefix separates it from the keys of unverified
 * requests in the same column.
 */
export const dedupeKey = (guid: string): string => `guid:${guid}`;

/**
 * Returns the body digest for deduplication; null if the template does not deduplicate bodies, or for
 * a redelivery, which always counts as new.
 */
export function bodyDigest({ delivery, template }: LaunchingDelivery): string | null {
  if (!template.dedupesBody || delivery.redeliveryOf !== null) return null;
  return createHash('sha256').update(delivery.event.payloadText).digest('hex');
}

/** Returns the row of a delivery that launches a run. */
export const acceptedRow = (arrival: LaunchingDelivery): DeliveryRow => {
  const { delivery } = arrival;
  const { guid, guidWindowSeconds: seconds } = delivery.event;
  const dedupe = { key: dedupeKey(guid), seconds, body: bodyDigest(arrival) };
  return { delivery, outcome: ACCEPTED, job: null, dedupe };
};

/**
 * Returns the row of a delivery that launches nothing. The row has no keys, so no later delivery counts
 * as its copy.
 */
export const recordedRow = (item: RecordedDelivery): DeliveryRow => ({ ...item, dedupe: NO_KEYS });

/** Returns a row of `VALUES`, preceded by its position. */
export function valuesRow({ delivery, outcome, job, dedupe }: DeliveryRow, ordinal: number): Sql {
  const { templateId, service, event, size, source, redeliveryOf } = delivery;
  const { verdict, reason, answer } = outcome;
  // Empty for a body that could not be parsed: its columns are empty or null.
  const parsed: Partial<WebhookEvent> = event ?? {};
  const { type = '', guid = '', ref, refName, headRef, statusApi, pushRef } = parsed;
  const { sender, payloadText } = parsed;
  const payload = KEEPS_PAYLOAD.has(verdict) ? payloadText : null;
  return sql`(${raw(String(ordinal))}, ${templateId}::int, ${service}, ${type}, ${guid}, ${ref},
    ${refName}, ${headRef}, ${statusApi}, ${pushRef}, ${sender}, ${payload}, ${verdict}, ${reason},
    ${answer}::int, ${size}::int, ${source}, ${redeliveryOf}::bigint, ${job}::bigint, ${dedupe.key},
    ${dedupe.body}, now() + make_interval(secs => ${dedupe.seconds}::int))`;
}
