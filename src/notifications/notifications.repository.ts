import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { dependentsOf } from '../common/resource/dependents.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { not, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allRuns } from '../runs/runs.repository.js';
import { notificationsOfTemplates } from '../templates/templates.repository.js';
import { OrganizationNotifications } from './organization-notifications.js';
import type { OutgoingMessage } from './backends/backend.js';
import type { NotificationType } from './backends/notification-type.js';
import { approvalEvent, TEST_EVENT } from './message/message-events.js';
import type { ResendRange } from './notification-templates.dto.js';
import { Notification, unfinished } from './notification.entity.js';

/** An event of a run, with the event that templates are attached for. */
export interface FiredEvent {
  jobId: number;
  event: string;
  attachedFor: string;
}

/** A notification in the list of its template. */
export interface RecentNotification {
  template: number;
  id: number;
  status: string;
  created: string;
  error: string;
}

/** A template with recent failures: its last notifications failed or are being retried. */
export interface FailingTemplate {
  id: number;
  name: string;
  failures: number;
  error: string;
}

interface TypeSample {
  label: string;
  value: number;
}

/** Creates and reads notifications; `NotificationLeasesRepository` sends them. */
@Injectable()
export class NotificationsRepository extends TableRepository<RowOf<Notification>> {
  constructor(
    @InjectRepository(Notification) repository: Repository<Notification>,
    private readonly organizations: OrganizationNotifications,
  ) {
    super(repository);
  }

  /**
   * Creates one notification for each template that is attached to a run's template, project,
   * workflow or organization, even if the event is published several times.
   *
   * @returns ids of the new notifications
   */
  async fire(fired: readonly FiredEvent[]): Promise<number[]> {
    // The lock skips a template that is being deleted; otherwise the foreign key would fail.
    return this.database.ids(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, event,
        notification_type, recipients, body, message_id)
      SELECT nt.id, hit.job_id, hit.event, nt.notification_type, nt.recipients, '{}',
        gen_random_uuid()::text
      FROM (
        SELECT DISTINCT run.id AS job_id, link.notification_template_id,
          CASE WHEN run.timed_out THEN ${approvalEvent('timed_out')} ELSE fired.event END AS event
        FROM unnest(${fired.map(({ jobId }) => jobId)}::bigint[],
          ${fired.map(({ event }) => event)}::text[],
          ${fired.map(({ attachedFor }) => attachedFor)}::text[])
          AS fired(job_id, event, attached_for)
        JOIN (${allRuns()}) run ON run.id = fired.job_id
        LEFT JOIN (${allRuns()}) workflow ON workflow.id = run.workflow_job_id
        CROSS JOIN LATERAL (
          SELECT notification_template_id FROM (${notificationsOfTemplates()}) attached
          WHERE unified_job_template_id IN (run.unified_job_template_id, run.project_id,
            workflow.unified_job_template_id) AND event = fired.attached_for
          UNION ALL
          SELECT notification_template_id FROM (${this.organizations.notificationLinks()}) attached
          WHERE organization_id = run.organization_id AND event = fired.attached_for
        ) link
        WHERE run.type <> 'workflow_job'
          OR run.unified_job_template_id IS NOT NULL AND run.job_template_id IS NULL
      ) hit
      JOIN notification_templates nt ON nt.id = hit.notification_template_id
      FOR KEY SHARE OF nt
      ON CONFLICT DO NOTHING
      RETURNING id`);
  }

  /**
   * Creates a test of a template. A message for a former type is rendered again.
   *
   * @param type type that the message was rendered for
   * @returns its id; null if the template does not exist
   */
  async addTest(
    template: number,
    type: NotificationType,
    message: OutgoingMessage,
  ): Promise<number | null> {
    const row = await this.database.row<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, notification_type, recipients,
        subject, body, text, event, message_id)
      SELECT id, ${type}, recipients, ${message.subject},
        ${JSON.stringify(message.body)}::json, ${message.text}, ${TEST_EVENT},
        gen_random_uuid()::text
      FROM notification_templates WHERE id = ${template} FOR KEY SHARE
      RETURNING id`);
    return row?.id ?? null;
  }

  /**
   * Creates resends of notifications. The resend of a failed notification keeps the message id and
   * the recipients already reached, so that no recipient receives the message twice.
   *
   * @returns the ids of the resends, in ascending order of their originals
   */
  addResends(ids: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, notification_type,
        recipients, subject, body, text, event, message_id, delivered, resend_of_id, resent)
      SELECT notification_template_id, unified_job_id, notification_type,
        recipients, subject, body, text, event,
        CASE WHEN status = 'failed' THEN message_id ELSE gen_random_uuid()::text END,
        CASE WHEN status = 'failed' THEN delivered ELSE '[]' END, id, TRUE
      FROM notifications WHERE id = ANY(${ids}::bigint[]) ORDER BY id
      RETURNING id`);
  }

  /** Returns true if a resend of a notification is unfinished. */
  async isBeingResent(id: number): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM notifications n WHERE n.resend_of_id = ${id} AND ${unfinished('n')} LIMIT 1`);
  }

  /**
   * Returns the newest record of each notification in the range: the notification itself, or its
   * newest resend. Omits unfinished records, and notifications whose newest record has none of the
   * requested statuses.
   *
   * @returns up to `limit` ids, each with the total number of records
   */
  newestOf(
    template: number,
    { from, to, statuses, events }: ResendRange,
    limit: number,
  ): Promise<{ id: number; total: number }[]> {
    return this.database.rows(sql`
      WITH RECURSIVE chain AS (
        SELECT id AS first, id FROM notifications
        WHERE notification_template_id = ${template} AND resend_of_id IS NULL AND event <> ${TEST_EVENT}
          AND created >= ${from}::timestamptz AND created < coalesce(${to}::timestamptz, now())
          AND (${events.length === 0}::boolean OR event = ANY(${events}::text[]))
        UNION ALL
        SELECT chain.first, n.id FROM notifications n JOIN chain ON n.resend_of_id = chain.id
      ), newest AS (
        SELECT max(id) AS id FROM chain GROUP BY first
      )
      SELECT n.id, (count(*) OVER ())::int AS total FROM notifications n JOIN newest USING (id)
      WHERE n.status = ANY(${statuses}::text[]) AND NOT ${unfinished('n')} ORDER BY n.id
      LIMIT ${limit}`);
  }

  /** Returns the newest notifications of each template, in one statement. */
  recent(templates: readonly number[], limit: number): Promise<RecentNotification[]> {
    return this.database.preparedRows<RecentNotification>(sql`
      SELECT wanted.id AS template, newest.*
      FROM unnest(${templates}::int[]) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT id, status, created, error FROM notifications
        WHERE notification_template_id = wanted.id ORDER BY id DESC LIMIT ${limit}) newest
      ORDER BY newest.id DESC`);
  }

  /**
   * Returns the names of a template's pending notifications, for display; null if there are none.
   */
  async namesOfPending(template: number): Promise<string | null> {
    const dependents = await dependentsOf(
      this.database,
      sql`
        SELECT id, 'notification' AS type FROM notifications
        WHERE notification_template_id = ${template} AND status = 'pending'`,
    );
    return dependents?.names ?? null;
  }

  /** Returns the number of pending notifications by type. */
  countPending(): Promise<TypeSample[]> {
    return this.database.rows<TypeSample>(sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'pending' GROUP BY notification_type`);
  }

  /** Returns the number of failed notifications that will be retried, by type. */
  countRetrying(): Promise<TypeSample[]> {
    return this.database.rows<TypeSample>(sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'failed' AND next_attempt_at IS NOT NULL GROUP BY notification_type`);
  }

  /**
   * Returns templates with recent failures that the caller can read, the latest failure first.
   *
   * @param newest number of newest notifications to search
   */
  failing(actor: Actor, days: number, newest: number, limit: number): Promise<FailingTemplate[]> {
    return this.database.rows<FailingTemplate>(sql`
      SELECT tpl.id, tpl.name, count(*)::int AS failures,
        (array_agg(t.error ORDER BY t.id DESC))[1] AS error
      FROM notifications t JOIN notification_templates tpl ON tpl.id = t.notification_template_id
      WHERE t.id > (SELECT coalesce(max(id), 0) - ${newest} FROM notifications)
        AND t.status IN ('failed', 'pending') AND t.error <> ''
        AND t.created >= now() - make_interval(days => ${days})
        AND (${permit(resource('notification_template').policy, 'read', 'tpl', actor)})
      GROUP BY tpl.id ORDER BY max(t.id) DESC LIMIT ${limit}`);
  }

  /** Returns the number of finished notifications older than `days` days. */
  countOld(days: number): Promise<number> {
    return this.countOlder({ column: 'created', days, condition: not(unfinished('t')) });
  }

  /** Deletes up to `limit` finished notifications older than `days` days. */
  removeOld(days: number, limit: number): Promise<number> {
    const condition = not(unfinished('t'));
    return this.removeOlder({ column: 'created', days, condition }, limit);
  }
}

/** Returns the SQL condition that a run has an unfinished notification. */
export const hasUnfinished = (run: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM notifications n WHERE n.unified_job_id = ${run} AND ${unfinished('n')})`;
