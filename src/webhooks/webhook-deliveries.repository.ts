import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { existing } from '../common/invariants.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { FALSE, sql, type Sql } from '../database/sql.js';
import type { Row } from '../common/resource/define-resource.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import type { IncomingDelivery, Outcome, UnprovedRequests, Verdict } from './delivery.js';
import type { Lookback } from '../runs/run-overviews.repository.js';
import { TableRepository } from '../database/table-repository.js';
import { RunDeliveries, type RunDelivery } from '../runs/run-causes.js';
import { allRuns } from '../runs/runs.repository.js';
import { templateNames } from '../templates/templates.repository.js';

/** A delivery that was read. */
type KnownDelivery = IncomingDelivery & { event: WebhookEvent };

/** What a delivery launched. */
export interface DeliveredRun {
  id: number;
  /** Resource type: a job template launched in slices makes a workflow job. */
  type: string;
}

/** A delivery that launched already. */
export interface FirstDelivery {
  id: number;
  guid: string;
  /** Null when it was deleted since. */
  run: DeliveredRun | null;
}

/** A delivery that was kept with its payload, JSON text. */
export interface KeptDelivery {
  id: number;
  received: Date;
  service: WebhookServiceName;
  event: string;
  ref_name: string | null;
  verdict: string;
  payload: string;
}

/** A push whose job nobody has begun to work on. */
export interface WaitingPush {
  job_id: number;
  delivery_id: number;
}

/** Identities of deliveries share a column with the seconds of unproved requests. */
const dedupeKey = (guid: string): string => `guid:${guid}`;

const digestOf = ({ payloadText }: WebhookEvent): string =>
  createHash('sha256').update(payloadText).digest('hex');

/** How many deliveries ended in one way. */
export interface VerdictCount {
  verdict: string;
  deliveries: number;
}

/** The rows of deliveries (docs/contract/webhooks.md#deliveries). */
@Injectable()
export class WebhookDeliveriesRepository extends TableRepository<Row> implements RunDeliveries {
  constructor(database: Database) {
    super(database, 'webhook_deliveries');
  }

  /** How the last deliveries that the caller may read ended. */
  countVerdicts(actor: Actor, back: Lookback): Promise<VerdictCount[]> {
    return this.database.rows<VerdictCount>(sql`
      SELECT t.verdict, count(*)::int AS deliveries FROM webhook_deliveries t
      WHERE t.id > (SELECT coalesce(max(id), 0) - ${back.newest} FROM webhook_deliveries)
        AND t.received >= now() - make_interval(days => ${back.days})
        AND (${permit(resource('webhook_delivery').policy, 'read', 't', actor)})
      GROUP BY t.verdict ORDER BY t.verdict`);
  }

  /**
   * Records a delivery that is going to launch. Insert first: of simultaneous copies one gets the
   * row, and the others wait here until it is known whether that one launched.
   *
   * @param template whether equal bodies count as one delivery; what a user sends again on purpose
   *   never does
   * @returns its id, or null when the same delivery launched before
   */
  async accept(
    delivery: KnownDelivery,
    { dedupesBody }: { dedupesBody: boolean },
  ): Promise<number | null> {
    const { guid, guidWindowSeconds } = delivery.event;
    if (guidWindowSeconds !== null) await this.expire(delivery, guid);
    const body = dedupesBody && delivery.redeliveryOf === null ? digestOf(delivery.event) : null;
    return this.write(delivery, ACCEPTED, {
      key: dedupeKey(guid),
      seconds: guidWindowSeconds,
      body,
    });
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
    const id = await this.write(delivery, outcome, NO_KEYS, job);
    return existing(id, 'a delivery without a key conflicts with none');
  }

  /** The delivery that a repetition repeats; undefined when retention has just removed it. */
  first({ templateId, service, event }: KnownDelivery): Promise<FirstDelivery | undefined> {
    return this.database.preparedRow<FirstDelivery>(sql`
      SELECT del.id, del.guid, CASE WHEN run.id IS NOT NULL
        THEN json_build_object('id', run.id, 'type', run.type) END AS run
      FROM webhook_deliveries del LEFT JOIN (${allRuns()}) run ON run.id = del.job_id
      WHERE del.template_id = ${templateId} AND (
        del.service = ${service} AND del.dedupe_key = ${dedupeKey(event.guid)}
        OR del.body_digest = ${digestOf(event)})
      ORDER BY del.id LIMIT 1`);
  }

  async setJob(id: number, jobId: number): Promise<void> {
    await this.database.unheard(
      this.database.preparedRows(
        sql`UPDATE webhook_deliveries SET job_id = ${jobId} WHERE id = ${id}`,
      ),
    );
  }

  /** Notes whose place a delivery took. */
  async supersede(ids: readonly number[], by: number): Promise<void> {
    await this.database.execute(
      sql`UPDATE webhook_deliveries SET superseded_by_id = ${by} WHERE id = ANY(${ids}::int[])`,
    );
  }

  ofRuns(ids: readonly number[], reader: Actor | null): Promise<RunDelivery[]> {
    // Whoever may send a delivery again sees its payload.
    const maySee = reader
      ? permit(resource('webhook_delivery').policy, 'redeliver', 'd', reader)
      : FALSE;
    return this.database.preparedRows<RunDelivery>(sql`
      SELECT run.id AS run_id, d.event, d.guid, d.ref, d.ref_name, d.head_ref, d.status_api,
        rule.may_see, CASE WHEN rule.may_see THEN d.payload END AS payload
      FROM (${allRuns()}) run JOIN webhook_deliveries d ON d.id = run.webhook_delivery_id
      CROSS JOIN LATERAL (SELECT (${maySee}) AS may_see) rule
      WHERE run.id = ANY(${ids}::int[])`);
  }

  facts(): Sql {
    return sql`
      SELECT id, event, guid, ref, ref_name, head_ref, status_api, payload
      FROM webhook_deliveries`;
  }

  /** The newest deliveries of a template with their payloads, as many as memory should hold. */
  newestKept(templateId: number, most: { rows: number; bytes: number }): Promise<KeptDelivery[]> {
    return this.database.rows<KeptDelivery>(sql`
      SELECT id, received, service, event, ref_name, verdict, payload FROM (
        SELECT newest.*, sum(size) OVER (ORDER BY id DESC) AS bytes FROM (
          SELECT id, received, service, event, ref_name, verdict, payload, size
          FROM webhook_deliveries
          WHERE template_id = ${templateId} AND payload IS NOT NULL
          ORDER BY id DESC LIMIT ${most.rows}) newest) summed
      WHERE bytes <= ${most.bytes} ORDER BY id DESC`);
  }

  /** Pushes to a ref whose jobs are still pending. */
  waitingPushes(templateId: number, pushRef: string): Promise<WaitingPush[]> {
    return this.database.rows<WaitingPush>(sql`
      SELECT run.id AS job_id, del.id AS delivery_id
      FROM (${allRuns()}) run JOIN webhook_deliveries del ON del.id = run.webhook_delivery_id
      WHERE run.unified_job_template_id = ${templateId} AND run.status = 'pending'
        AND run.launch_type = 'webhook' AND del.push_ref = ${pushRef}`);
  }

  /**
   * Records requests without proof, one record a second for each template, service and verdict.
   * Templates deleted meanwhile are left out.
   */
  async countUnproved(requests: readonly UnprovedRequests[]): Promise<void> {
    const column = <Key extends keyof UnprovedRequests>(key: Key): UnprovedRequests[Key][] =>
      requests.map((one) => one[key]);
    await this.database.execute(sql`
      INSERT INTO webhook_deliveries AS del
        (template_id, service, verdict, reason, event, answer, size, source, repeats, dedupe_key)
      SELECT given.*, 'second:' || given.verdict || ':' || floor(extract(epoch FROM now()))
      FROM unnest(${column('templateId')}::int[], ${column('service')}::text[],
          ${column('verdict')}::text[], ${column('reason')}::text[], ${column('event')}::text[],
          ${column('answer')}::int[], ${column('size')}::int[], ${column('source')}::text[],
          ${column('repeats')}::int[])
        AS given (template_id, service, verdict, reason, event, answer, size, source, repeats)
      JOIN (${templateNames()}) ujt ON ujt.id = given.template_id
      ON CONFLICT (template_id, service, dedupe_key)
        DO UPDATE SET repeats = del.repeats + EXCLUDED.repeats`);
  }

  /** Removes deliveries older than some days that no run refers to. @returns how many */
  removeOld(days: number, most: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT del.id FROM webhook_deliveries del
        WHERE del.received < now() - make_interval(days => ${days}::int) AND NOT EXISTS (
          SELECT 1 FROM (${allRuns()}) run WHERE run.webhook_delivery_id = del.id)
        LIMIT ${most})`);
  }

  /** Takes the payloads from those that no active run refers to. @returns how many */
  emptyOld(days: number, most: number): Promise<number> {
    return this.database.execute(sql`
      UPDATE webhook_deliveries SET payload = NULL WHERE id IN (
        SELECT del.id FROM webhook_deliveries del
        WHERE del.received < now() - make_interval(days => ${days}::int)
          AND del.payload IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM (${allRuns()}) run
            WHERE run.webhook_delivery_id = del.id AND run.finished IS NULL)
        LIMIT ${most})`);
  }

  /** Digests of bodies count for a time only: two equal events a day apart are two events. */
  private async expire({ templateId, service }: IncomingDelivery, guid: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE webhook_deliveries SET dedupe_key = NULL
      WHERE template_id = ${templateId} AND service = ${service}
        AND dedupe_key = ${dedupeKey(guid)} AND dedupe_until < now()`);
  }

  private async write(
    { templateId, service, event, size, source, redeliveryOf }: IncomingDelivery,
    { verdict, reason, answer }: Outcome,
    dedupe: DedupeKeys,
    job: number | null = null,
  ): Promise<number | null> {
    const { type, guid, ref, refName, headRef, statusApi, pushRef, payloadText } = event ?? UNREAD;
    const payload = KEEPS_PAYLOAD.has(verdict) ? payloadText : null;
    const row = await this.database.preparedRow<{ id: number }>(sql`
      INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, ref_name, head_ref,
        status_api, push_ref, payload, verdict, reason, answer, size, source, redelivery_of_id,
        job_id, dedupe_key, body_digest, dedupe_until)
      VALUES (${templateId}, ${service}, ${type}, ${guid}, ${ref}, ${refName}, ${headRef},
        ${statusApi}, ${pushRef}, ${payload}, ${verdict}, ${reason}, ${answer}, ${size}, ${source},
        ${redeliveryOf}, ${job}, ${dedupe.key}, ${dedupe.body},
        now() + make_interval(secs => ${dedupe.seconds}::int))
      ON CONFLICT DO NOTHING RETURNING id`);
    return row?.id ?? null;
  }
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

/** What is known of a body that could not be read. */
const UNREAD = {
  ...{ type: '', guid: '', ref: null, refName: null, headRef: null },
  ...{ statusApi: null, pushRef: null, payloadText: null },
};

const ACCEPTED: Outcome = { verdict: 'accepted', reason: '', answer: 202 };

/** What may still be of use: to the job, to a redelivery, to a test of filters. */
const KEEPS_PAYLOAD: ReadonlySet<Verdict> = new Set(['accepted', 'ignored']);
