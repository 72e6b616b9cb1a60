import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { acknowledged, Outbox } from '../common/queue/outbox.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { ident, sql, type Sql } from '../database/sql.js';
import type { OutgoingMessage } from './backends/backend.js';
import type { NotificationType } from './backends/notification-type.js';
import { TEST_EVENT, type Messages } from './message/message-events.js';
import { unfinished } from './unfinished.js';

/** Renewed while an attempt lasts, so it only has to outlive a pause of the process. */
const LEASE_SECONDS = 30;
/** The ladder of attempts takes four hours; waiting for a dead destination ends after these. */
const GIVE_UP_HOURS = 8;
const ENDED = sql`SELECT held.id FROM held JOIN given USING (id) WHERE given.delay IS NULL`;
const ABANDONED = 'The worker ended before the outcome was known.';

/** Ends the attempts that a dead worker left behind at the notifications of a part of a statement. */
const abandonedOf = (part: Sql): Sql => sql`
  UPDATE notification_attempts a
  SET successful = FALSE, detail = ${ABANDONED}, modified = now()
  FROM ${part} WHERE a.notification_id = ${part}.id AND a.successful IS NULL`;

/** One attempt at one notification, held by this process. */
export interface Lease {
  id: number;
  /** Number of the attempt; every later step names it. */
  attempts: number;
  event: string;
  message_id: string;
  delivered: string[];
  subject: string;
  body: Record<string, unknown>;
  text: string | null;
  unified_job_id: number | null;
  run_template_id: number | null;
  notification_type: NotificationType;
  notification_template_id: number;
  notification_configuration: Record<string, unknown>;
  messages: Messages | null;
  /** Whether it has been tried for so long that a failure is final. */
  overdue: boolean;
}

/** What came of an attempt. */
export interface Outcome {
  status: 'successful' | 'failed';
  error: string;
  sent: number;
  delivered: readonly string[];
  /** Wait before the next attempt; null when none is planned. */
  delaySeconds: number | null;
  /** Absent when no message could be made. */
  message: OutgoingMessage | null;
  attempt: { statusCode: number | null; detail: string; durationMs: number };
}

/** Where a notification goes and whether it is its turn. */
export interface Target {
  destination: string;
  due: boolean;
  /** Asked for by somebody who waits for what comes of it. */
  is_test: boolean;
}

interface Settlement {
  lease: Lease;
  outcome: Outcome;
}

/**
 * The rows of notifications and their attempts, as the notifier writes them. What many attempts
 * want at the same time is done in one statement for all of them.
 */
@Injectable()
export class NotificationLedger {
  private readonly finding = new Batch((ids: readonly number[]) => this.findAll(ids));
  private readonly leasing = new Batch((ids: readonly number[]) => this.leaseAll(ids));
  private readonly settling = new Batch((all: readonly Settlement[]) => this.settleAll(all));

  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Where a notification goes and whether it is its turn; undefined when nothing of it is to be sent
   * any more. What opens and resolves one incident goes out in order (docs/decisions/0038).
   */
  find(id: number): Promise<Target | undefined> {
    return this.finding.run(id);
  }

  private async findAll(ids: readonly number[]): Promise<(Target | undefined)[]> {
    // Planned each time: a plan made before a burst would read all of it for each batch.
    const rows = await this.database.rows<Target & Row>(sql`
      SELECT n.id, nt.destination, n.event = ${TEST_EVENT} AS is_test,
        (n.lease_until IS NULL OR n.lease_until < now())
          AND (n.next_attempt_at IS NULL OR n.next_attempt_at <= now())
          AND (n.event IN ('success', 'error')
            AND nt.notification_configuration ->> 'resolve_on_success' = 'true'
            AND EXISTS (
              SELECT 1 FROM notifications before
              JOIN unified_jobs earlier ON earlier.id = before.unified_job_id
              JOIN unified_jobs run ON run.id = n.unified_job_id
              WHERE before.notification_template_id = nt.id AND before.id < n.id
                AND before.event IN ('success', 'error') AND ${unfinished('before')}
                AND earlier.unified_job_template_id = run.unified_job_template_id)) IS NOT TRUE AS due
      FROM notifications n JOIN notification_templates nt ON nt.id = n.notification_template_id
      WHERE n.id = ANY(${ids}::int[]) AND ${unfinished('n')}`);
    return inOrder(ids, rows);
  }

  /**
   * Begins an attempt: counts it, writes it down, and settles one that a dead worker left behind: an
   * expired lease says so, because whoever ends an attempt gives its lease back. Undefined when
   * somebody else has it, or it is not due. A message made for another kind of template is made anew.
   */
  lease(id: number): Promise<Lease | undefined> {
    return this.leasing.run(id);
  }

  private async leaseAll(ids: readonly number[]): Promise<(Lease | undefined)[]> {
    // Locked in one order, so that two workers with the same ids do not wait for each other.
    const rows = await this.database.rows<Lease & Row>(sql`
      WITH wanted AS (
        SELECT id FROM notifications n
        WHERE id = ANY(${ids}::int[]) AND ${unfinished('n')}
          AND (lease_until IS NULL OR lease_until < now())
          AND (next_attempt_at IS NULL OR next_attempt_at <= now())
        ORDER BY id FOR UPDATE
      ), leased AS (
        UPDATE notifications n SET
          attempts = n.attempts + 1,
          lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
          status = CASE WHEN n.lease_until IS NULL THEN n.status ELSE 'failed' END,
          error = CASE WHEN n.lease_until IS NULL THEN n.error ELSE ${ABANDONED} END,
          next_attempt_at = CASE WHEN n.lease_until IS NULL THEN n.next_attempt_at
            ELSE coalesce(n.next_attempt_at, now()) END,
          notification_type = nt.notification_type,
          recipients = nt.recipients,
          text = CASE WHEN n.notification_type = nt.notification_type THEN n.text END,
          modified = now()
        FROM wanted, notification_templates nt
        WHERE n.id = wanted.id AND nt.id = n.notification_template_id
        RETURNING n.id, n.attempts, n.event, n.message_id, n.delivered, n.subject, n.body, n.text,
          n.unified_job_id,
          (SELECT run.unified_job_template_id FROM unified_jobs run
            WHERE run.id = n.unified_job_id) AS run_template_id,
          n.notification_type, n.notification_template_id,
          nt.notification_configuration, nt.messages,
          n.created < now() - make_interval(hours => ${GIVE_UP_HOURS}) AS overdue
      ), abandoned AS (
        ${abandonedOf(ident('leased'))}
      ), begun AS (
        INSERT INTO notification_attempts (notification_id, number) SELECT id, attempts FROM leased
      )
      SELECT * FROM leased`);
    return inOrder(ids, rows);
  }

  async renew({ id, attempts }: Lease): Promise<void> {
    await this.database.execute(sql`
      UPDATE notifications SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE id = ${id} AND attempts = ${attempts} AND lease_until IS NOT NULL`);
  }

  /** Ends an attempt. A lease that was lost meanwhile changes nothing but the attempt's own row. */
  settle(lease: Lease, outcome: Outcome): Promise<void> {
    return this.settling.run({ lease, outcome });
  }

  private async settleAll(all: readonly Settlement[]): Promise<void[]> {
    if (all.some(({ outcome }) => outcome.delaySeconds !== null)) {
      await this.database.transaction(async () => {
        const held = await this.writeOutcomes(all);
        for (const { lease, outcome } of all) {
          if (outcome.delaySeconds === null || !held.has(lease.id)) continue;
          await this.outbox.postpone('notifications', lease.id, outcome.delaySeconds);
        }
      });
    } else {
      await this.writeOutcomes(all);
    }
    return all.map(() => undefined);
  }

  /** @returns ids of those whose lease was still held; the outbox forgets which of them ended */
  private async writeOutcomes(all: readonly Settlement[]): Promise<ReadonlySet<number>> {
    const leases = <Key extends keyof Lease>(key: Key) => all.map(({ lease }) => lease[key]);
    const outcomes = <T>(read: (outcome: Outcome) => T) => all.map(({ outcome }) => read(outcome));
    const rows = await this.database.rows<Row>(sql`
      WITH given AS (
        SELECT * FROM unnest(
          ${leases('id')}::int[], ${leases('attempts')}::int[],
          ${outcomes(({ status }) => status)}::text[], ${outcomes(({ error }) => error)}::text[],
          ${outcomes(({ sent }) => sent)}::int[],
          ${outcomes(({ delivered }) => JSON.stringify(delivered))}::text[],
          ${outcomes(({ delaySeconds }) => delaySeconds)}::float8[],
          ${outcomes(({ message }) => message?.subject ?? null)}::text[],
          ${outcomes(({ message }) => (message ? JSON.stringify(message.body) : null))}::text[],
          ${outcomes(({ message }) => message?.text ?? null)}::text[],
          ${outcomes(({ attempt }) => attempt.statusCode)}::int[],
          ${outcomes(({ attempt }) => attempt.detail)}::text[],
          ${outcomes(({ attempt }) => attempt.durationMs)}::int[]
        ) AS one(id, attempts, status, error, sent, delivered, delay, subject, body, text,
          status_code, detail, duration_ms)
      ), attempt AS (
        UPDATE notification_attempts a SET successful = given.status = 'successful',
          status_code = given.status_code, detail = given.detail, duration_ms = given.duration_ms,
          modified = now()
        FROM given WHERE a.notification_id = given.id AND a.number = given.attempts
      ), held AS (
        SELECT n.id FROM notifications n JOIN given USING (id, attempts)
        WHERE ${unfinished('n')} ORDER BY n.id FOR UPDATE OF n
      ), ended AS (
        ${acknowledged('notifications', ENDED)}
      )
      UPDATE notifications n SET
        status = given.status, error = given.error, notifications_sent = given.sent,
        delivered = given.delivered::json,
        subject = coalesce(given.subject, n.subject),
        body = coalesce(given.body::json, n.body),
        text = coalesce(given.text, n.text),
        lease_until = NULL,
        next_attempt_at = now() + make_interval(secs => given.delay),
        modified = now()
      FROM held JOIN given USING (id) WHERE n.id = held.id
      RETURNING n.id`);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Puts a notification off without an attempt, because its destination is known to be down. After
   * hours of that it fails, so that it does not block its template for ever.
   */
  async hold(id: number, delaySeconds: number): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.database.row<{ planned: boolean }>(sql`
        WITH held AS (
          UPDATE notifications n SET
            status = CASE WHEN lease_until IS NOT NULL
              OR created < now() - make_interval(hours => ${GIVE_UP_HOURS})
              THEN 'failed' ELSE status END,
            error = CASE WHEN lease_until IS NOT NULL THEN ${ABANDONED}
              WHEN error = '' THEN 'The destination could not be reached.' ELSE error END,
            lease_until = NULL,
            next_attempt_at = CASE WHEN created >= now() - make_interval(hours => ${GIVE_UP_HOURS})
              THEN now() + make_interval(secs => ${delaySeconds}) END,
            modified = now()
          WHERE id = ${id} AND ${unfinished('n')} AND (lease_until IS NULL OR lease_until < now())
          RETURNING id, next_attempt_at IS NOT NULL AS planned
        ), abandoned AS (
          ${abandonedOf(ident('held'))}
        )
        SELECT planned FROM held`);
      if (row?.planned === true) await this.outbox.postpone('notifications', id, delaySeconds);
      if (row?.planned === false) await this.outbox.acknowledge('notifications', id);
    });
  }
}

/** Rows by the ids that were asked for; undefined where there is none. */
function inOrder<T extends { id: number }>(
  ids: readonly number[],
  rows: readonly T[],
): (T | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
