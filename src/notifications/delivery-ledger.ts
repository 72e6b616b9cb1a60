import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { OutgoingMessage } from './backends/backend.js';
import type { NotificationType } from './backends/notification-type.js';
import type { Messages } from './message/message-events.js';

/** Renewed while an attempt lasts, so it only has to outlive a pause of the process. */
const LEASE_SECONDS = 30;
/** The ladder of attempts takes four hours; waiting for a dead destination ends after these. */
const GIVE_UP_HOURS = 8;
const ABANDONED = 'The worker ended before the outcome was known.';

/** One attempt at one notification, held by this process. */
export interface Lease {
  id: number;
  /** Number of the attempt; every later step names it (R3). */
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
  status: 'successful' | 'failed' | 'pending';
  error: string;
  sent: number;
  delivered: readonly string[];
  /** Wait before the next attempt; only while pending. */
  delaySeconds: number;
  /** Absent when no message could be made. */
  message: OutgoingMessage | null;
  attempt: { statusCode: number | null; detail: string; durationMs: number };
}

/** The rows of notifications and their attempts, as the notifier writes them. */
@Injectable()
export class DeliveryLedger {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Where a pending notification goes and whether it is its turn; undefined when it is settled. What
   * opens and resolves one incident goes out in order (docs/decisions/0038).
   */
  find(id: number): Promise<{ destination: string; due: boolean } | undefined> {
    return this.database.row<{ destination: string; due: boolean }>(sql`
      SELECT nt.destination,
        (n.lease_until IS NULL OR n.lease_until < now())
          AND (n.next_attempt_at IS NULL OR n.next_attempt_at <= now())
          AND (n.event IN ('success', 'error')
            AND nt.notification_configuration ->> 'resolve_on_success' = 'true'
            AND EXISTS (
              SELECT 1 FROM notifications before
              JOIN unified_jobs earlier ON earlier.id = before.unified_job_id
              JOIN unified_jobs run ON run.id = n.unified_job_id
              WHERE before.notification_template_id = nt.id AND before.id < n.id
                AND before.event IN ('success', 'error') AND before.status = 'pending'
                AND earlier.unified_job_template_id = run.unified_job_template_id)) IS NOT TRUE AS due
      FROM notifications n JOIN notification_templates nt ON nt.id = n.notification_template_id
      WHERE n.id = ${id} AND n.status = 'pending'`);
  }

  /**
   * Begins an attempt: counts it, writes it down, and settles one that a dead worker left behind.
   * Undefined when somebody else has it, or it is not due. A message made for another kind of
   * template is made anew.
   */
  lease(id: number): Promise<Lease | undefined> {
    return this.database.row<Lease>(sql`
      WITH leased AS (
        UPDATE notifications n SET
          attempts = n.attempts + 1,
          lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
          next_attempt_at = NULL,
          notification_type = nt.notification_type,
          recipients = nt.recipients,
          text = CASE WHEN n.notification_type = nt.notification_type THEN n.text END,
          modified = now()
        FROM notification_templates nt
        WHERE n.id = ${id} AND nt.id = n.notification_template_id AND n.status = 'pending'
          AND (n.lease_until IS NULL OR n.lease_until < now())
          AND (n.next_attempt_at IS NULL OR n.next_attempt_at <= now())
        RETURNING n.id, n.attempts, n.event, n.message_id, n.delivered, n.subject, n.body, n.text,
          n.unified_job_id,
          (SELECT run.unified_job_template_id FROM unified_jobs run
            WHERE run.id = n.unified_job_id) AS run_template_id,
          n.notification_type, n.notification_template_id,
          nt.notification_configuration, nt.messages,
          n.created < now() - make_interval(hours => ${GIVE_UP_HOURS}) AS overdue
      ), abandoned AS (
        UPDATE notification_attempts a
        SET successful = FALSE, detail = ${ABANDONED}, modified = now()
        FROM leased WHERE a.notification_id = leased.id AND a.successful IS NULL
      ), begun AS (
        INSERT INTO notification_attempts (notification_id, number) SELECT id, attempts FROM leased
      )
      SELECT * FROM leased`);
  }

  async renew({ id, attempts }: Lease): Promise<void> {
    await this.database.execute(sql`
      UPDATE notifications SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE id = ${id} AND attempts = ${attempts} AND status = 'pending'`);
  }

  /** Ends an attempt. A lease that was lost meanwhile changes nothing but the attempt's own row. */
  async settle({ id, attempts }: Lease, outcome: Outcome): Promise<void> {
    const { statusCode, detail, durationMs } = outcome.attempt;
    await this.database.transaction(async () => {
      const held = await this.database.execute(sql`
        WITH attempt AS (
          UPDATE notification_attempts SET successful = ${outcome.status === 'successful'},
            status_code = ${statusCode}, detail = ${detail}, duration_ms = ${durationMs},
            modified = now()
          WHERE notification_id = ${id} AND number = ${attempts}
        )
        UPDATE notifications SET
          status = ${outcome.status}, error = ${outcome.error},
          notifications_sent = ${outcome.sent},
          delivered = ${JSON.stringify(outcome.delivered)}::json,
          subject = coalesce(${outcome.message?.subject ?? null}, subject),
          body = coalesce(${outcome.message ? JSON.stringify(outcome.message.body) : null}::json, body),
          text = coalesce(${outcome.message?.text ?? null}, text),
          lease_until = NULL,
          next_attempt_at = CASE WHEN ${outcome.status === 'pending'}::boolean
            THEN now() + make_interval(secs => ${outcome.delaySeconds}) END,
          modified = now()
        WHERE id = ${id} AND attempts = ${attempts} AND status = 'pending'`);
      if (held === 0) return;
      if (outcome.status === 'pending') {
        await this.outbox.postpone('notifications', id, outcome.delaySeconds);
      } else {
        await this.outbox.acknowledge('notifications', id);
      }
    });
  }

  /**
   * Puts a notification off without an attempt, because its destination is known to be down. After
   * hours of that it fails, so that it does not block its template for ever (N8).
   */
  async hold(id: number, delaySeconds: number): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.database.row<{ status: string }>(sql`
        UPDATE notifications SET
          status = CASE WHEN created < now() - make_interval(hours => ${GIVE_UP_HOURS})
            THEN 'failed' ELSE status END,
          error = CASE WHEN error = '' THEN 'The destination could not be reached.' ELSE error END,
          next_attempt_at = CASE WHEN created < now() - make_interval(hours => ${GIVE_UP_HOURS})
            THEN NULL ELSE now() + make_interval(secs => ${delaySeconds}) END,
          modified = now()
        WHERE id = ${id} AND status = 'pending' AND (lease_until IS NULL OR lease_until < now())
        RETURNING status`);
      if (row?.status === 'pending') await this.outbox.postpone('notifications', id, delaySeconds);
      if (row?.status === 'failed') await this.outbox.acknowledge('notifications', id);
    });
  }
}
