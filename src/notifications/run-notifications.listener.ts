import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.service.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { approvalEvent, type RunEvent } from './message/message-events.js';
import { NotificationsRepository } from './notifications.repository.js';

const EVENT_OF: Readonly<Record<string, RunEvent>> = {
  running: 'started',
  successful: 'success',
  failed: 'error',
  error: 'error',
  canceled: 'error',
};

/** Approval events, by status, for the notification templates that are attached under `approvals`. */
const APPROVAL_EVENT_OF: Readonly<Record<string, string>> = {
  pending: approvalEvent('running'),
  successful: approvalEvent('approved'),
  failed: approvalEvent('denied'),
};

/**
 * Returns the event of the message and the event for which templates are attached; null if the change
 * creates no notification.
 */
function eventFor(change: RunChange): { event: string; attachedFor: string } | null {
  const { type, status, isReplaced = false } = change;
  if (isReplaced) return null;
  const isApproval = type === 'workflow_approval';
  const event = (isApproval ? APPROVAL_EVENT_OF : EVENT_OF)[status];
  return event ? { event, attachedFor: isApproval ? 'approvals' : event } : null;
}

/**
 * Creates notifications for status changes of runs, in the transaction of the change. Creates one
 * record and one queue entry for each template attached to the run's template, its project or its
 * organization (docs/contract/notifications.md#when-they-fire). A change that is published several
 * times creates no further notifications. A workflow job without a workflow job template (the
 * parent of a bulk launch or of slices) creates no notifications.
 */
@Injectable()
@ListensToRuns()
export class RunNotifications implements RunListener {
  constructor(
    private readonly notifications: NotificationsRepository,
    private readonly outbox: Outbox,
  ) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const fired = changes.flatMap((change) => {
      const event = eventFor(change);
      return event ? [{ jobId: change.jobId, ...event }] : [];
    });
    if (fired.length === 0) return;
    await this.outbox.add('notifications', await this.notifications.fire(fired));
  }
}
