import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import { isFinal } from './state-machine.js';
import type { UnifiedJob } from './unified-job.entity.js';
import { RunsRepository } from './runs.repository.js';

/** Time after the end of a run in which its events can still arrive, in ms. */
const LATE_EVENTS_MS = 60_000;

/** Hooks that apply the same delete rules to all kinds of runs (docs/contract/runs.md#delete). */
@Injectable()
export class RunHooks implements ResourceHooks<UnifiedJob> {
  constructor(private readonly runs: RunsRepository) {}

  async prepareDelete(row: RowOf<UnifiedJob>): Promise<void> {
    if (!isFinal(row.status)) {
      throw new Forbidden('Cannot delete running job resource.');
    }
    if (await this.runs.isInRunningWorkflow(row.id)) {
      throw new Forbidden('Cannot delete job resource when associated workflow job is running.');
    }
    const age = Date.now() - new Date(String(row.finished)).getTime();
    if (row.event_processing_finished === false && age < LATE_EVENTS_MS) {
      throw new BadRequest('Job has not finished processing events.');
    }
  }
}
