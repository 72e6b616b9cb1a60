import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { WebhookServiceName } from '../code-hosts/services.js';

export type Verdict = 'accepted' | 'duplicate' | 'ignored' | 'rejected';

/** A delivery whose sender is verified, or that a user sends again. */
export interface IncomingDelivery {
  templateId: number;
  service: WebhookServiceName;
  /** Null when the body could not be read. */
  event: WebhookEvent | null;
  /** Bytes of the body. */
  size: number;
  source: string;
  /** Delivery this one repeats on request of a user. */
  redeliveryOf: number | null;
}

/** What became of it. */
export interface Outcome {
  verdict: Verdict;
  reason: string;
  answer: number;
}

/** What a delivery launched. */
export interface DeliveredRun {
  id: number;
  /** Resource type: a job template launched in slices makes a workflow job. */
  type: string;
}

/** A delivery that launched already. */
export interface FirstDelivery {
  id: number;
  /** Null when it was deleted since. */
  run: DeliveredRun | null;
}

/** Identities of deliveries share a column with the seconds of `RejectionLog`. */
const dedupeKey = (guid: string): string => `guid:${guid}`;

/** The rows of deliveries (docs/contract/webhooks.md#deliveries). */
@Injectable()
export class DeliveryLedger {
  constructor(private readonly database: Database) {}

  /**
   * Records a delivery that is going to launch. Insert first: of simultaneous copies one gets the
   * row, and the others wait here until it is known whether that one launched.
   *
   * @returns its id, or null when the same delivery launched before
   */
  async accept(delivery: IncomingDelivery & { event: WebhookEvent }): Promise<number | null> {
    const { guid, guidWindowSeconds } = delivery.event;
    if (guidWindowSeconds !== null) await this.expire(delivery, guid);
    return this.insert(delivery, ACCEPTED, { key: dedupeKey(guid), seconds: guidWindowSeconds });
  }

  /**
   * Records a delivery that launches nothing.
   *
   * @param job the one that an earlier copy of it launched
   * @returns its id
   */
  async record(
    delivery: IncomingDelivery,
    outcome: Outcome,
    job: number | null = null,
  ): Promise<number> {
    const id = await this.insert(delivery, outcome, { key: null, seconds: null }, job);
    return existing(id, 'a delivery without a key conflicts with none');
  }

  /** The delivery that a repetition repeats; undefined when retention has just removed it. */
  first(
    { templateId, service }: IncomingDelivery,
    guid: string,
  ): Promise<FirstDelivery | undefined> {
    return this.database.preparedRow<FirstDelivery>(sql`
      SELECT del.id, CASE WHEN run.id IS NOT NULL
        THEN json_build_object('id', run.id, 'type', run.type) END AS run
      FROM webhook_deliveries del LEFT JOIN unified_jobs run ON run.id = del.job_id
      WHERE del.template_id = ${templateId} AND del.service = ${service}
        AND del.dedupe_key = ${dedupeKey(guid)}`);
  }

  async setJob(id: number, jobId: number): Promise<void> {
    await this.database.preparedRows(
      sql`UPDATE webhook_deliveries SET job_id = ${jobId} WHERE id = ${id}`,
    );
  }

  /** Notes whose place a delivery took. */
  async supersede(ids: readonly number[], by: number): Promise<void> {
    await this.database.execute(
      sql`UPDATE webhook_deliveries SET superseded_by_id = ${by} WHERE id = ANY(${ids}::int[])`,
    );
  }

  /** Digests of bodies count for a time only: two equal events a day apart are two events. */
  private async expire({ templateId, service }: IncomingDelivery, guid: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE webhook_deliveries SET dedupe_key = NULL
      WHERE template_id = ${templateId} AND service = ${service}
        AND dedupe_key = ${dedupeKey(guid)} AND dedupe_until < now()`);
  }

  private async insert(
    { templateId, service, event, size, source, redeliveryOf }: IncomingDelivery,
    { verdict, reason, answer }: Outcome,
    dedupe: { key: string | null; seconds: number | null },
    job: number | null = null,
  ): Promise<number | null> {
    const { type, guid, ref, refName, headRef, statusApi, pushRef, payloadText } = event ?? UNREAD;
    const payload = KEEPS_PAYLOAD.has(verdict) ? payloadText : null;
    const row = await this.database.preparedRow<{ id: number }>(sql`
      INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, ref_name, head_ref,
        status_api, push_ref, payload, verdict, reason, answer, size, source, redelivery_of_id,
        job_id, dedupe_key, dedupe_until)
      VALUES (${templateId}, ${service}, ${type}, ${guid}, ${ref}, ${refName}, ${headRef},
        ${statusApi}, ${pushRef}, ${payload}, ${verdict}, ${reason}, ${answer}, ${size}, ${source},
        ${redeliveryOf}, ${job}, ${dedupe.key},
        now() + make_interval(secs => ${dedupe.seconds}::int))
      ON CONFLICT (template_id, service, dedupe_key) DO NOTHING RETURNING id`);
    return row?.id ?? null;
  }
}

/** What is known of a body that could not be read. */
const UNREAD = {
  ...{ type: '', guid: '', ref: null, refName: null, headRef: null },
  ...{ statusApi: null, pushRef: null, payloadText: null },
};

const ACCEPTED: Outcome = { verdict: 'accepted', reason: '', answer: 202 };

/** What may still be of use: to the job, to a redelivery, to a test of filters. */
const KEEPS_PAYLOAD: ReadonlySet<Verdict> = new Set(['accepted', 'ignored']);
