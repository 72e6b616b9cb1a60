import { createHash } from 'node:crypto';
import type { WebhookEvent } from '../code-hosts/event.js';
import { raw, sql, type Sql } from '../database/sql.js';
import type { IncomingDelivery, Outcome, Verdict } from './delivery.js';

/** A delivery that was read. */
export type KnownDelivery = IncomingDelivery & { event: WebhookEvent };

/** A delivery that is going to launch, and what of its template decides whether it does. */
export interface Arrival {
  delivery: KnownDelivery;
  template: { dedupesBody: boolean };
}

/** A delivery that launches nothing. */
export interface RecordedDelivery {
  delivery: IncomingDelivery;
  outcome: Outcome;
  /** The run that an earlier copy of it launched; null: none. */
  job: number | null;
}

/** A delivery as its row is written. */
export interface DeliveryRow extends RecordedDelivery {
  dedupe: DedupeKeys;
}

/** What a repetition of a delivery is refused by; null: by nothing. */
interface DedupeKeys {
  key: string | null;
  /** How long the key counts; null: for ever. */
  seconds: number | null;
  /** Digest of the body. */
  body: string | null;
}

const NO_KEYS: DedupeKeys = { key: null, seconds: null, body: null };

const ACCEPTED: Outcome = { verdict: 'accepted', reason: '', answer: 202 };

/** What may still be of use: to the job, to a redelivery, to a test of filters. */
const KEEPS_PAYLOAD: ReadonlySet<Verdict> = new Set(['accepted', 'ignored']);

/** What is known of a body that could not be read. */
const UNREAD = {
  ...{ type: '', guid: '', ref: null, refName: null, headRef: null },
  ...{ statusApi: null, pushRef: null, payloadText: null },
};

/** Identities of deliveries share a column with the seconds of unproved requests. */
export const dedupeKey = (guid: string): string => `guid:${guid}`;

/**
 * What an equal body is known by; null where bodies do not count: what a user sends again on purpose
 * is a delivery of its own.
 */
export function bodyDigest({ delivery, template }: Arrival): string | null {
  if (!template.dedupesBody || delivery.redeliveryOf !== null) return null;
  return createHash('sha256').update(delivery.event.payloadText).digest('hex');
}

/** The row of a delivery that launches. */
export const acceptedRow = (arrival: Arrival): DeliveryRow => {
  const { delivery } = arrival;
  const { guid, guidWindowSeconds: seconds } = delivery.event;
  const dedupe = { key: dedupeKey(guid), seconds, body: bodyDigest(arrival) };
  return { delivery, outcome: ACCEPTED, job: null, dedupe };
};

/** The row of a delivery that launches nothing: nothing is a copy of it. */
export const recordedRow = (one: RecordedDelivery): DeliveryRow => ({ ...one, dedupe: NO_KEYS });

/** A row behind its place, as one of a list of `VALUES`. */
export function tupleOf({ delivery, outcome, job, dedupe }: DeliveryRow, place: number): Sql {
  const { templateId, service, event, size, source, redeliveryOf } = delivery;
  const { verdict, reason, answer } = outcome;
  const { type, guid, ref, refName, headRef, statusApi, pushRef, payloadText } = event ?? UNREAD;
  const payload = KEEPS_PAYLOAD.has(verdict) ? payloadText : null;
  return sql`(${raw(String(place))}, ${templateId}::int, ${service}, ${type}, ${guid}, ${ref},
    ${refName}, ${headRef}, ${statusApi}, ${pushRef}, ${payload}, ${verdict}, ${reason},
    ${answer}::int, ${size}::int, ${source}, ${redeliveryOf}::bigint, ${job}::bigint, ${dedupe.key},
    ${dedupe.body}, now() + make_interval(secs => ${dedupe.seconds}::int))`;
}
