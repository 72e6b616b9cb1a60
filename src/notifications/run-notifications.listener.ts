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
    private readonly notifications: NotificationsRepository,
    private readonly outbox: Outbox,
  ) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const fired = changes.flatMap((change) => {
      const found = firedBy(change);
      return found ? [{ jobId: change.jobId, ...found }] : [];
    });
    if (fired.length === 0) return;
    await this.outbox.add('notifications', await this.notifications.fire(fired));
  }
}
