import { Injectable } from '@nestjs/common';
import { acknowledgement } from '../common/queue/outbox.repository.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allRuns } from '../runs/runs.repository.js';
import { TEST_EVENT } from './message/message-events.js';
import {
  ABANDONED_DETAIL,
  abandonAttempts,
  addAttempts,
  endAttempts,
} from './notification-attempts.repository.js';
import type {
  Lease,
  AttemptOutcome,
  PostponeResult,
  CompletedAttempt,
  NotificationTarget,
} from './notification-lease.js';
import { Notification, unfinished } from './notification.entity.js';

/**
 * Duration of a lease, in seconds. It is renewed during an attempt, so it only has to outlast a
 * pause of the process.
 */
const LEASE_SECONDS = 30;
/**
 * Time after which a notification to an unreachable destination is given up, in hours. The regular
 * retries take four hours.
 */
const GIVE_UP_HOURS = 8;
const ENDED = sql`SELECT leased.id FROM leased JOIN results USING (id) WHERE results.delay IS NULL`;

/** Notifications that are being sent: due times, leases and results. */
@Injectable()
export class NotificationLeasesRepository extends TableRepository<RowOf<Notification>> {
  constructor(@InjectRepository(Notification) repository: Repository<Notification>) {
    super(repository);
  }

  /**
   * Returns the destinations of unfinished notifications, with a flag for due notifications.
   * Notifications that open and resolve one incident are sent in order (docs/decisions/0038-notifications.md).
   */
  targets(ids: readonly number[]): Promise<NotificationTarget[]> {
    // Not a prepared statement: a plan made before a burst would scan all notifications for each
    // batch.
    return this.database.rows<NotificationTarget>(sql`
      SELECT n.id, nt.destination, n.event = ${TEST_EVENT} AS is_test,
        own.is_due AND previous.status IS NULL AS due,
        CASE WHEN own.is_due AND previous.status = 'failed' THEN
          greatest(0, extract(epoch FROM previous.next_attempt_at - now()))::float8 END AS wait_seconds
      FROM notifications n JOIN notification_templates nt ON nt.id = n.notification_template_id
      CROSS JOIN LATERAL (
        SELECT (n.lease_until IS NULL OR n.lease_until < now())
          AND (n.next_attempt_at IS NULL OR n.next_attempt_at <= now()) AS is_due) own
      LEFT JOIN LATERAL (
        SELECT previous.status, previous.next_attempt_at FROM notifications previous
        JOIN (${allRuns()}) earlier ON earlier.id = previous.unified_job_id
        JOIN (${allRuns()}) run ON run.id = n.unified_job_id
        WHERE n.event IN ('success', 'error')
          AND nt.notification_configuration ->> 'resolve_on_success' = 'true'
          AND previous.notification_template_id = nt.id AND previous.id < n.id
          AND previous.event IN ('success', 'error') AND ${unfinished('previous')}
          AND earlier.unified_job_template_id = run.unified_job_template_id
        ORDER BY previous.id DESC LIMIT 1) previous ON true
      WHERE n.id = ANY(${ids}::bigint[]) AND ${unfinished('n')}`);
  }

  /** Leases due notifications for an attempt, which is counted and recorded. */
  lease(ids: readonly number[]): Promise<Lease[]> {
    // Locked in the order of ids, so that two workers with the same ids cannot deadlock.
    return this.database.rows<Lease>(sql`
      WITH wanted AS (
        SELECT id FROM notifications n
        WHERE id = ANY(${ids}::bigint[]) AND ${unfinished('n')}
          AND (lease_until IS NULL OR lease_until < now())
          AND (next_attempt_at IS NULL OR next_attempt_at <= now())
        ORDER BY id FOR UPDATE
      ), leased AS (
        UPDATE notifications n SET
          attempts = n.attempts + 1,
          lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
          status = CASE WHEN n.lease_until IS NULL THEN n.status ELSE 'failed' END,
          error = CASE WHEN n.lease_until IS NULL THEN n.error ELSE ${ABANDONED_DETAIL} END,
          next_attempt_at = CASE WHEN n.lease_until IS NULL THEN n.next_attempt_at
            ELSE coalesce(n.next_attempt_at, now()) END,
          notification_type = nt.notification_type,
          recipients = nt.recipients,
          text = CASE WHEN n.notification_type = nt.notification_type THEN n.text END,
          delivered = CASE WHEN n.notification_type = nt.notification_type THEN n.delivered ELSE '[]' END,
          modified = now()
        FROM wanted, notification_templates nt
        WHERE n.id = wanted.id AND nt.id = n.notification_template_id
        RETURNING n.id, n.attempts, n.event, n.message_id, n.delivered, n.subject, n.body, n.text,
          n.unified_job_id,
          (SELECT run.unified_job_template_id FROM (${allRuns()}) run
            WHERE run.id = n.unified_job_id) AS run_template_id,
          n.notification_type, n.notification_template_id,
          nt.notification_configuration, nt.messages,
          n.created < now() - make_interval(hours => ${GIVE_UP_HOURS}) AS overdue
      ), abandoned AS (
        ${abandonAttempts(sql`SELECT id FROM leased`)}
      ), started AS (
        ${addAttempts(sql`SELECT id, attempts FROM leased`)}
      )
      SELECT * FROM leased`);
  }

  async renew({ id, attempts }: Lease): Promise<void> {
    await this.database.execute(sql`
      UPDATE notifications SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE id = ${id} AND attempts = ${attempts} AND lease_until IS NOT NULL`);
  }

  async keepDelivered({ id, attempts, delivered }: Lease): Promise<void> {
    await this.database.execute(sql`
      UPDATE notifications SET delivered = ${JSON.stringify(delivered)}::json
      WHERE id = ${id} AND attempts = ${attempts}`);
  }

  /**
   * Stores the results of attempts, and deletes the outbox entries of finished notifications.
   *
   * @returns ids of the notifications whose lease was still valid
   */
  async settle(all: readonly CompletedAttempt[]): Promise<ReadonlySet<number>> {
    const leases = <Key extends keyof Lease>(key: Key) => all.map(({ lease }) => lease[key]);
    const outcomes = <T>(read: (outcome: AttemptOutcome) => T) =>
      all.map(({ outcome }) => read(outcome));
    const found = await this.database.ids(sql`
      WITH results AS (
        SELECT * FROM unnest(
          ${leases('id')}::bigint[], ${leases('attempts')}::int[],
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
        ) AS result(id, attempts, status, error, sent, delivered, delay, subject, body, text,
          status_code, detail, duration_ms)
      ), attempt AS (
        ${endAttempts(sql`SELECT * FROM results`)}
      ), leased AS (
        SELECT n.id FROM notifications n JOIN results USING (id, attempts)
        WHERE ${unfinished('n')} ORDER BY n.id FOR UPDATE OF n
      ), ended AS (
        ${acknowledgement('notifications', ENDED)}
      )
      UPDATE notifications n SET
        status = results.status, error = results.error, notifications_sent = results.sent,
        delivered = results.delivered::json,
        subject = coalesce(results.subject, n.subject),
        body = coalesce(results.body::json, n.body),
        text = coalesce(results.text, n.text),
        lease_until = NULL,
        next_attempt_at = now() + make_interval(secs => results.delay),
        modified = now()
      FROM leased JOIN results USING (id) WHERE n.id = leased.id
      RETURNING n.id`);
    return new Set(found);
  }

  /**
   * Postpones a notification without an attempt, unless a worker has a lease on it. The notification
   * counts as failed until the next attempt, or permanently if it is too old.
   *
   * @param reason error of a notification without an attempt
   */
  postpone(id: number, delaySeconds: number, reason: string): Promise<PostponeResult | undefined> {
    return this.database.row<PostponeResult>(sql`
      WITH postponed AS (
        UPDATE notifications n SET
          status = 'failed',
          error = CASE WHEN lease_until IS NOT NULL THEN ${ABANDONED_DETAIL}
            WHEN error = '' THEN ${reason} ELSE error END,
          lease_until = NULL,
          next_attempt_at = CASE WHEN created >= now() - make_interval(hours => ${GIVE_UP_HOURS})
            THEN now() + make_interval(secs => ${delaySeconds}) END,
          modified = now()
        WHERE id = ${id} AND ${unfinished('n')} AND (lease_until IS NULL OR lease_until < now())
        RETURNING id, next_attempt_at IS NOT NULL AS planned
      ), abandoned AS (
        ${abandonAttempts(sql`SELECT id FROM postponed`)}
      )
      SELECT planned FROM postponed`);
  }
}
