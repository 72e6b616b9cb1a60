import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { approvalEvent, type RunEvent } from './message/message-events.js';

const EVENT_OF: Readonly<Record<string, RunEvent>> = {
  running: 'started',
  successful: 'success',
  failed: 'error',
  error: 'error',
  canceled: 'error',
};

/** An approval tells of itself to whoever attached a template for approvals to its workflow. */
const APPROVAL_EVENT_OF: Readonly<Record<string, string>> = {
  pending: approvalEvent('running'),
  successful: approvalEvent('approved'),
  failed: approvalEvent('denied'),
};

/** @returns the event, and under which one templates are attached for it; null when nothing fires */
function firedBy(change: RunChange): { event: string; attachedFor: string } | null {
  const { type, status, isReplaced = false } = change;
  if (isReplaced) return null;
  const isApproval = type === 'workflow_approval';
  const event = (isApproval ? APPROVAL_EVENT_OF : EVENT_OF)[status];
  return event ? { event, attachedFor: isApproval ? 'approvals' : event } : null;
}

/**
 * Turns changes of runs into notifications, in the transaction of the change: one record and
 * one piece of work for each template attached to what was run, its project or its organization
 * (docs/contract/notifications.md#when-they-fire), however often the change is told. A workflow
 * without a template of its own, the parent of a bulk launch or of slices, fires nothing itself.
 */
@Injectable()
@ListensToRuns()
export class RunNotifications implements RunListener {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const fired = changes.flatMap((change) => {
      const found = firedBy(change);
      return found ? [{ jobId: change.jobId, ...found }] : [];
    });
    if (fired.length === 0) return;
    // The lock makes a template that is being deleted drop out here; the foreign key would fail.
    const rows = await this.database.rows<{ id: number }>(sql`
      INSERT INTO notifications (notification_template_id, unified_job_id, event,
        notification_type, recipients, body, message_id)
      SELECT nt.id, hit.job_id, hit.event, nt.notification_type, nt.recipients, '{}',
        gen_random_uuid()::text
      FROM (
        SELECT DISTINCT run.id AS job_id, link.notification_template_id,
          CASE WHEN run.timed_out THEN ${approvalEvent('timed_out')} ELSE fired.event END AS event
        FROM unnest(${fired.map(({ jobId }) => jobId)}::int[],
          ${fired.map(({ event }) => event)}::text[],
          ${fired.map(({ attachedFor }) => attachedFor)}::text[])
          AS fired(job_id, event, attached_for)
        JOIN unified_jobs run ON run.id = fired.job_id
        LEFT JOIN unified_jobs workflow ON workflow.id = run.workflow_job_id
        CROSS JOIN LATERAL (
          SELECT notification_template_id FROM template_notifications
          WHERE unified_job_template_id IN (run.unified_job_template_id, run.project_id,
            workflow.unified_job_template_id) AND event = fired.attached_for
          UNION ALL
          SELECT notification_template_id FROM organization_notifications
          WHERE organization_id = run.organization_id AND event = fired.attached_for
        ) link
        WHERE run.type <> 'workflow_job'
          OR run.unified_job_template_id IS NOT NULL AND run.job_template_id IS NULL
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
