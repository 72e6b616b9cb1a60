import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { entryOf, existing, zip } from '../common/invariants.js';
import { FALSE, join, sql, type Sql } from '../database/sql.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import type { UnverifiedRequests } from './delivery.js';
import {
  acceptedRow,
  bodyDigest,
  dedupeKey,
  recordedRow,
  valuesRow,
  type LaunchingDelivery,
  type DeliveryRow,
  type ParsedDelivery,
  type RecordedDelivery,
} from './delivery-rows.js';
import type { Lookback } from '../runs/run-overviews.repository.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RunDeliveries, type RunDelivery } from '../runs/run-causes.js';
import { allRuns } from '../runs/runs.repository.js';
import { receivedServices, templateNames } from '../templates/templates.repository.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';

export interface DeliveredRun {
  id: number;
  /** Resource type. A job template that is launched in slices creates a workflow job. */
  type: string;
}

/** An earlier delivery that already launched a run. */
export interface Original {
  id: number;
  guid: string;
  /** Run of the delivery; null if it was deleted. */
  run: DeliveredRun | null;
}

/** A stored delivery with its payload as JSON text. */
export interface StoredDelivery {
  id: number;
  received: Date;
  service: WebhookServiceName;
  event: string;
  ref_name: string | null;
  verdict: string;
  payload: string;
}

/** A push whose job has not started. */
export interface WaitingPush {
  job_id: number;
  delivery_id: number;
}

export interface VerdictCount {
  verdict: string;
  deliveries: number;
}

/** Condition on a delivery `t` that no run refers to. */
const HAS_NO_RUN = sql`
  NOT EXISTS (SELECT 1 FROM (${allRuns()}) run WHERE run.webhook_delivery_id = t.id)`;

/** The rows of deliveries (docs/contract/webhooks.md#deliveries). */
@Injectable()
export class WebhookDeliveriesRepository extends TableRepository<Row> implements RunDeliveries {
  constructor(@InjectRepository(WebhookDelivery) repository: Repository<WebhookDelivery>) {
    super(repository);
  }

  /** Counts the latest deliveries that the caller can read, by verdict. */
  countVerdicts(actor: Actor, lookback: Lookback): Promise<VerdictCount[]> {
    return this.database.rows<VerdictCount>(sql`
      SELECT t.verdict, count(*)::int AS deliveries FROM webhook_deliveries t
      WHERE t.id > (SELECT coalesce(max(id), 0) - ${lookback.newest} FROM webhook_deliveries)
        AND t.received >= now() - make_interval(days => ${lookback.days})
        AND (${permit(resource('webhook_delivery').policy, 'read', 't', actor)})
      GROUP BY t.verdict ORDER BY t.verdict`);
  }

  /**
   * Records deliveries that are about to launch. The insert comes first: one of several
   * simultaneous copies inserts the row, and the others wait for its commit or rollback.
   *
   * @returns the id of each delivery; null for a delivery that already launched, or a copy of one
   *   that launched
   */
  async accept(arrivals: readonly LaunchingDelivery[]): Promise<(number | null)[]> {
    await this.expire(
      arrivals.flatMap(({ delivery }) =>
        delivery.event.guidWindowSeconds === null ? [] : [delivery],
      ),
    );
    // Sorted, so that two transactions that record the same deliveries cannot deadlock.
    const ordered = arrivals.toSorted((a, b) =>
      a.delivery.event.guid < b.delivery.event.guid ? -1 : 1,
    );
    const ids = await this.write(ordered.map(acceptedRow));
    const idOf = new Map(zip(ordered, ids));
    return arrivals.map((arrival) => entryOf(idOf, arrival));
  }

  /**
   * Records deliveries that launch nothing.
   *
   * @returns their ids, in the same order
   */
  async record(deliveries: readonly RecordedDelivery[]): Promise<number[]> {
    const ids = await this.write(deliveries.map(recordedRow));
    return ids.map((id) => existing(id, 'a delivery without a key conflicts with none'));
  }

  /**
   * Returns the original of each repeated delivery, in the same order; undefined if retention has
   * just removed it.
   */
  async originals(arrivals: readonly LaunchingDelivery[]): Promise<(Original | undefined)[]> {
    if (arrivals.length === 0) return [];
    const column = <T>(value: (arrival: LaunchingDelivery) => T): T[] => arrivals.map(value);
    const found = await this.database.preparedRows<Original & { ordinal: number }>(sql`
      SELECT given.ordinal::int AS ordinal, del.id, del.guid, CASE WHEN run.id IS NOT NULL
        THEN json_build_object('id', run.id, 'type', run.type) END AS run
      FROM unnest(${column(({ delivery }) => delivery.templateId)}::int[],
          ${column(({ delivery }) => delivery.service)}::text[],
          ${column(({ delivery }) => dedupeKey(delivery.event.guid))}::text[],
          ${column(bodyDigest)}::text[])
        WITH ORDINALITY AS given (template_id, service, dedupe_key, body_digest, ordinal)
      CROSS JOIN LATERAL (
        SELECT same.id FROM webhook_deliveries same
        WHERE same.template_id = given.template_id AND same.service = given.service
          AND same.dedupe_key = given.dedupe_key
        UNION ALL
        SELECT same.id FROM webhook_deliveries same
        WHERE same.template_id = given.template_id AND same.body_digest = given.body_digest
        ORDER BY 1 LIMIT 1) earliest
      JOIN webhook_deliveries del ON del.id = earliest.id
      LEFT JOIN (${allRuns()}) run ON run.id = del.job_id`);
    const byOrdinal = new Map(found.map((row) => [row.ordinal, row]));
    return arrivals.map((_arrival, index) => byOrdinal.get(index + 1));
  }

  /** @param launched pairs of the id of a delivery and the launched run */
  async setRuns(launched: readonly (readonly [number, DeliveredRun])[]): Promise<void> {
    await this.database.deferToCommit(
      this.database.preparedRows(sql`
        UPDATE webhook_deliveries del SET job_id = given.run_id
        FROM unnest(${launched.map(([id]) => id)}::bigint[],
          ${launched.map(([, run]) => run.id)}::bigint[])
          AS given (id, run_id)
        WHERE del.id = given.id`),
    );
  }

  /** Records which delivery replaced some deliveries. */
  async supersede(ids: readonly number[], by: number): Promise<void> {
    await this.database.execute(
      sql`UPDATE webhook_deliveries SET superseded_by_id = ${by} WHERE id = ANY(${ids}::bigint[])`,
    );
  }

  ofRuns(ids: readonly number[], reader: Actor | null): Promise<RunDelivery[]> {
    // The permission to redeliver includes the permission to see the payload.
    const maySee = reader
      ? permit(resource('webhook_delivery').policy, 'redeliver', 'd', reader)
      : FALSE;
    return this.database.preparedRows<RunDelivery>(sql`
      SELECT run.id AS run_id, d.event, d.guid, d.ref, d.ref_name, d.head_ref, d.status_api,
        d.sender, rule.may_see, CASE WHEN rule.may_see THEN d.payload END AS payload
      FROM (${allRuns()}) run JOIN webhook_deliveries d ON d.id = run.webhook_delivery_id
      CROSS JOIN LATERAL (SELECT (${maySee}) AS may_see) rule
      WHERE run.id = ANY(${ids}::bigint[])`);
  }

  facts(): Sql {
    return sql`
      SELECT id, event, guid, ref, ref_name, head_ref, status_api, sender, payload
      FROM webhook_deliveries`;
  }

  /**
   * Returns the newest deliveries of a template with their payloads, up to the maximum number and
   * total size.
   */
  newestWithPayload(
    templateId: number,
    limit: { rows: number; bytes: number },
  ): Promise<StoredDelivery[]> {
    return this.database.rows<StoredDelivery>(sql`
      SELECT id, received, service, event, ref_name, verdict, payload FROM (
        SELECT newest.*, sum(size) OVER (ORDER BY id DESC) AS bytes FROM (
          SELECT id, received, service, event, ref_name, verdict, payload, size
          FROM webhook_deliveries
          WHERE template_id = ${templateId} AND payload IS NOT NULL
          ORDER BY id DESC LIMIT ${limit.rows}) newest) summed
      WHERE bytes <= ${limit.bytes} ORDER BY id DESC`);
  }

  /** Returns pushes to a ref whose jobs are still pending. */
  waitingPushes(templateId: number, pushRef: string): Promise<WaitingPush[]> {
    return this.database.rows<WaitingPush>(sql`
      SELECT run.id AS job_id, del.id AS delivery_id
      FROM (${allRuns()}) run JOIN webhook_deliveries del ON del.id = run.webhook_delivery_id
      WHERE run.unified_job_template_id = ${templateId} AND run.status = 'pending'
        AND run.launch_type = 'webhook' AND del.push_ref = ${pushRef}`);
  }

  /**
   * Records unverified requests, at most one record per second for each template, service and
   * verdict. Requests for deleted templates are omitted.
   */
  async countUnverified(requests: readonly UnverifiedRequests[]): Promise<void> {
    const column = <Key extends keyof UnverifiedRequests>(key: Key): UnverifiedRequests[Key][] =>
      requests.map((request) => request[key]);
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

  /** Returns the number of deliveries older than `days` that no run refers to. */
  countOld(days: number): Promise<number> {
    return this.countOlder({ column: 'received', days, condition: HAS_NO_RUN });
  }

  /** Deletes up to `limit` deliveries older than `days` that no run refers to. */
  removeOld(days: number, limit: number): Promise<number> {
    return this.removeOlder({ column: 'received', days, condition: HAS_NO_RUN }, limit);
  }

  /**
   * Removes the payloads of old deliveries that no active run refers to.
   *
   * @returns number of changed deliveries
   */
  removeOldPayloads(days: number, limit: number): Promise<number> {
    return this.database.execute(sql`
      UPDATE webhook_deliveries SET payload = NULL WHERE id IN (
        SELECT del.id FROM webhook_deliveries del
        WHERE del.received < now() - make_interval(days => ${days}::int)
          AND del.payload IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM (${allRuns()}) run
            WHERE run.webhook_delivery_id = del.id AND run.finished IS NULL)
        LIMIT ${limit})`);
  }

  /** Removes expired deduplication keys: two equal events a day apart are two events. */
  private async expire(deliveries: readonly ParsedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.database.execute(sql`
      UPDATE webhook_deliveries del SET dedupe_key = NULL
      FROM unnest(${deliveries.map(({ templateId }) => templateId)}::int[],
          ${deliveries.map(({ service }) => service)}::text[],
          ${deliveries.map(({ event }) => dedupeKey(event.guid))}::text[])
        AS given (template_id, service, dedupe_key)
      WHERE del.template_id = given.template_id AND del.service = given.service
        AND del.dedupe_key = given.dedupe_key AND del.dedupe_until < now()`);
  }

  /**
   * @returns the id of each row; null for copies of another row, including rows of the same call
   */
  private async write(rows: readonly DeliveryRow[]): Promise<(number | null)[]> {
    const written = await this.database.preparedRows<{ ordinal: number; id: number }>(sql`
      WITH given AS MATERIALIZED (
        SELECT nextval(pg_get_serial_sequence(${this.table}, 'id')) AS id, input.*
        FROM (VALUES ${join(rows.map(valuesRow))}) AS input (ordinal, template_id, service, event,
          guid, ref, ref_name, head_ref, status_api, push_ref, sender, payload, verdict, reason,
          answer, size, source, redelivery_of_id, job_id, dedupe_key, body_digest, dedupe_until)),
      written AS (
        INSERT INTO webhook_deliveries (id, template_id, service, event, guid, ref, ref_name, head_ref,
          status_api, push_ref, sender, payload, verdict, reason, answer, size, source,
          redelivery_of_id, job_id, dedupe_key, body_digest, dedupe_until)
        SELECT id, template_id, service, event, guid, ref, ref_name, head_ref, status_api, push_ref,
          sender, payload, verdict, reason, answer, size, source, redelivery_of_id, job_id, dedupe_key,
          body_digest, dedupe_until
        FROM given
        ON CONFLICT DO NOTHING RETURNING id)
      SELECT given.ordinal, written.id FROM written JOIN given ON given.id = written.id`);
    const byOrdinal = new Map(written.map(({ ordinal, id }) => [ordinal, id]));
    return rows.map((_row, ordinal) => byOrdinal.get(ordinal) ?? null);
  }
}

/** Returns the query for deliveries that have a payload, and whose template still has their service. */
export const redeliverable = (ids: readonly number[]): Sql => sql`
  SELECT del.id FROM webhook_deliveries del
  JOIN (${receivedServices()}) template
    ON template.id = del.template_id AND template.service = del.service
  WHERE del.id = ANY(${ids}::bigint[]) AND del.payload IS NOT NULL`;
