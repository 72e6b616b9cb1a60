import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { heldBy } from '../common/resource/held-by.js';
import { resource } from '../common/resource/registry.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { allRuns } from '../runs/runs.repository.js';
import { notificationsOfTemplates } from '../templates/template-notifications.repository.js';
import { OrganizationNotifications } from './attached-templates.js';
import type { ComposedMessage } from './message/compose.js';
import { approvalEvent, TEST_EVENT } from './message/message-events.js';
import type { ResendRequest } from './resend-request.js';
import { unfinished } from './unfinished.js';
import type { NotificationSchema } from './notification.schema.js';

/** What happened to a run, and under which event templates are attached for it. */
export interface FiredEvent {
  jobId: number;
  event: string;
  attachedFor: string;
}

/** A notification as its template lists it. */
export interface RecentNotification {
  template: number;
  id: number;
  status: string;
  created: string;
  error: string;
}

/** A destination that got nothing lately, or that is being tried again. */
export interface FailingTemplate {
  id: number;
  name: string;
  failures: number;
  error: string;
}

/** A number of a type of notification. */
interface TypeSample {
  label: string;
  value: number;
}

/** Notifications as they come to be and are looked at; `NotificationLeasesRepository` sends them. */
@Injectable()
export class NotificationsRepository extends TableRepository<RowOf<NotificationSchema>> {
  constructor(
    database: Database,
    private readonly organizations: OrganizationNotifications,
  ) {
    super(database, 'notifications');
  }

  /**
   * One for each template that is attached to what was run, its project, its workflow or its
   * organization, however often it is told. @returns ids of the new ones
   */
  async fire(fired: readonly FiredEvent[]): Promise<number[]> {
    // The lock makes a template that is being deleted drop out here; the foreign key would fail.
    const rows = await this.database.rows<{ id: number }>(sql`
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
    return rows.map(({ id }) => id);
  }

  /** A test of a template. @returns its id; null when there is no such template */
  async addTest(template: number, message: ComposedMessage): Promise<number | null> {
    const row = await this.database.row<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, notification_type, recipients,
        subject, body, text, event, message_id)
      SELECT id, notification_type, recipients, ${message.subject},
        ${JSON.stringify(message.body)}::json, ${message.text}, ${TEST_EVENT},
        gen_random_uuid()::text
      FROM notification_templates WHERE id = ${template}
      RETURNING id`);
    return row?.id ?? null;
  }

  /**
   * Repeats notifications. What failed keeps its id and the recipients it reached, so that nobody is
   * told twice. @returns the new ids in order of the old ones
   */
  async repeat(ids: readonly number[]): Promise<number[]> {
    const rows = await this.database.rows<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, notification_type,
        recipients, subject, body, text, event, message_id, delivered, resend_of_id, resent)
      SELECT notification_template_id, unified_job_id, notification_type,
        recipients, subject, body, text, event,
        CASE WHEN status = 'failed' THEN message_id ELSE gen_random_uuid()::text END,
        CASE WHEN status = 'failed' THEN delivered ELSE '[]' END, id, TRUE
      FROM notifications WHERE id = ANY(${ids}::bigint[]) ORDER BY id
      RETURNING id`);
    return rows.map(({ id }) => id);
  }

  /**
   * What stands now for each notification fired in the range: itself, or the newest record that
   * repeats it. What is still to be tried is left out whatever its status, and a repetition that is
   * still to be sent or went through takes its original out with it.
   *
   * @returns ids of the first ones, each with the number of all
   */
  newestOf(
    template: number,
    { from, to, statuses, events }: ResendRequest,
    most: number,
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
      LIMIT ${most}`);
  }

  /** The newest of each template, in one statement however many there are. */
  recent(templates: readonly number[], most: number): Promise<RecentNotification[]> {
    return this.database.preparedRows<RecentNotification>(sql`
      SELECT wanted.id AS template, newest.*
      FROM unnest(${templates}::int[]) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT id, status, created, error FROM notifications
        WHERE notification_template_id = wanted.id ORDER BY id DESC LIMIT ${most}) newest
      ORDER BY newest.id DESC`);
  }

  /** Names those of a template that were not tried yet, for people; null when there are none. */
  async namesOfPending(template: number): Promise<string | null> {
    const holders = await heldBy(
      this.database,
      sql`
        SELECT id, 'notification' AS type FROM notifications
        WHERE notification_template_id = ${template} AND status = 'pending'`,
    );
    return holders?.names ?? null;
  }

  /** Those that were not tried yet, by type. */
  countPending(): Promise<TypeSample[]> {
    return this.database.rows<TypeSample>(sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'pending' GROUP BY notification_type`);
  }

  /** Those that failed and are tried again, by type. */
  countRetrying(): Promise<TypeSample[]> {
    return this.database.rows<TypeSample>(sql`
      SELECT notification_type AS label, count(*)::int AS value FROM notifications
      WHERE status = 'failed' AND next_attempt_at IS NOT NULL GROUP BY notification_type`);
  }

  /**
   * Templates with failures of the last days that the caller may read, the latest first.
   *
   * @param newest number of the newest notifications that are looked at
   */
  failing(actor: Actor, days: number, newest: number, most: number): Promise<FailingTemplate[]> {
    return this.database.rows<FailingTemplate>(sql`
      SELECT tpl.id, tpl.name, count(*)::int AS failures,
        (array_agg(t.error ORDER BY t.id DESC))[1] AS error
      FROM notifications t JOIN notification_templates tpl ON tpl.id = t.notification_template_id
      WHERE t.id > (SELECT coalesce(max(id), 0) - ${newest} FROM notifications)
        AND t.status IN ('failed', 'pending') AND t.error <> ''
        AND t.created >= now() - make_interval(days => ${days})
        AND (${permit(resource('notification_template').policy, 'read', 'tpl', actor)})
      GROUP BY tpl.id ORDER BY max(t.id) DESC LIMIT ${most}`);
  }
}
