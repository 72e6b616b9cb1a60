import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { ListensToRuns, type RunChange, type RunListener } from '../jobs/run-changes.js';
import type { RunEvent } from './message/message-events.js';

const EVENT_OF: Readonly<Record<string, RunEvent>> = {
  running: 'started',
  successful: 'success',
  failed: 'error',
  error: 'error',
  canceled: 'error',
};

/**
 * Turns changes of runs into notifications, in the transaction of the change (N1): one record and
 * one piece of work for each template attached to what was run, its project or its organization
 * (automation 3.12), however often the change is told. A workflow without a template, the parent of a
 * bulk launch, fires nothing itself.
 */
@Injectable()
@ListensToRuns()
export class RunNotifications implements RunListener {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const fired = changes.flatMap(({ jobId, status, isReplaced }) => {
      const event = isReplaced ? undefined : EVENT_OF[status];
      return event ? [{ jobId, event }] : [];
    });
    if (fired.length === 0) return;
    // The lock makes a template that is being deleted drop out here; the foreign key would fail.
    const rows = await this.database.rows<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, event,
        notification_type, recipients, body, message_id)
      SELECT nt.id, hit.job_id, hit.event, nt.notification_type, nt.recipients, '{}',
        gen_random_uuid()::text
      FROM (
        SELECT DISTINCT run.id AS job_id, fired.event, link.notification_template_id
        FROM unnest(${fired.map(({ jobId }) => jobId)}::int[],
          ${fired.map(({ event }) => event)}::text[]) AS fired(job_id, event)
        JOIN unified_jobs run ON run.id = fired.job_id
        CROSS JOIN LATERAL (
          SELECT notification_template_id FROM template_notifications
          WHERE unified_job_template_id IN (run.unified_job_template_id, run.project_id)
            AND event = fired.event
          UNION ALL
          SELECT notification_template_id FROM organization_notifications
          WHERE organization_id = run.organization_id AND event = fired.event
            AND (run.type <> 'workflow_job' OR run.unified_job_template_id IS NOT NULL)
        ) link
      ) hit
      JOIN notification_templates nt ON nt.id = hit.notification_template_id
      FOR KEY SHARE OF nt
      ON CONFLICT DO NOTHING
      RETURNING id`);
    await this.outbox.add(
      'notifications',
      rows.map(({ id }) => id),
    );
  }
}
