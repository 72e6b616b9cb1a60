import { Injectable } from '@nestjs/common';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WEBHOOK_SERVICE_NAMES } from '../code-hosts/services.js';
import { statusWord } from '../code-hosts/status-body.js';
import { StatusPostsRepository, type PendingStatus } from './status-posts.repository.js';

/** Writes down, with every change of a run, what its webhook's service has to be told. */
@Injectable()
@ListensToRuns()
export class StatusPostsListener implements RunListener {
  constructor(private readonly store: StatusPostsRepository) {}

  runsChanged(changes: readonly RunChange[]): Promise<void> {
    return this.store.add(changes.flatMap(announcements));
  }
}

/** What each service would be told; the store picks the service the job came from. */
function announcements({ jobId, type, status }: RunChange): PendingStatus[] {
  if (!ANNOUNCED.has(type)) return [];
  return WEBHOOK_SERVICE_NAMES.flatMap((service) => {
    const state = statusWord(service, status);
    return state === null ? [] : [{ jobId, status, service, state }];
  });
}

/** Kinds of runs that webhooks launch. */
const ANNOUNCED: ReadonlySet<string> = new Set(RECEIVER_KINDS.map(({ runs }) => runs));
