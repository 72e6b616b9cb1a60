import { Injectable } from '@nestjs/common';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WEBHOOK_SERVICE_NAMES } from '../code-hosts/services.js';
import { serviceState } from '../code-hosts/status-body.js';
import { StatusPostsRepository, type PendingStatus } from './status-posts.repository.js';

/**
 * Stores a status post for each status change that must be reported to the code host of a webhook.
 */
@Injectable()
@ListensToRuns()
export class StatusPostsListener implements RunListener {
  constructor(private readonly store: StatusPostsRepository) {}

  runsChanged(changes: readonly RunChange[]): Promise<void> {
    return this.store.add(changes.flatMap(postsFor));
  }
}

/** Returns the status post for the code host that launched the run, if there is one. */
function postsFor({ jobId, type, status, reportsTo }: RunChange): PendingStatus[] {
  const service = WEBHOOK_SERVICE_NAMES.find((name) => name === reportsTo);
  if (service === undefined || !REPORTED_KINDS.has(type)) return [];
  const state = serviceState(service, status);
  return state === null ? [] : [{ jobId, status, state }];
}

/** Kinds of runs that webhooks launch. */
const REPORTED_KINDS: ReadonlySet<string> = new Set(RECEIVER_KINDS.map(({ runType }) => runType));
