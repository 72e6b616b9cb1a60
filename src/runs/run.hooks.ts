import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { isFinal } from './state-machine.js';
import type { JobStatus } from './unified-job.schema.js';
import type { UnifiedJobSchema } from './unified-job.schema.js';

/** Time in which the events of a finished run may still be on their way. */
const SETTLING_MS = 60_000;

/** Runs of every kind are deleted by the same rule (docs/contract/runs.md#delete). */
@Injectable()
export class RunHooks implements ResourceHooks<UnifiedJobSchema> {
  constructor(private readonly database: Database) {}

  async prepareDelete(row: RowOf<UnifiedJobSchema>): Promise<void> {
    if (!isFinal(row.status as JobStatus)) {
      throw new Forbidden('Cannot delete running job resource.');
    }
    const workflow = await this.database.row(sql`
      SELECT 1 FROM workflow_job_nodes node JOIN unified_jobs run ON run.id = node.workflow_job_id
      WHERE node.job_id = ${row.id} AND run.status = 'running'`);
    if (workflow) {
      throw new Forbidden('Cannot delete job resource when associated workflow job is running.');
    }
    const age = Date.now() - new Date(String(row.finished)).getTime();
    if (row.event_processing_finished === false && age < SETTLING_MS) {
      throw new BadRequest('Job has not finished processing events.');
    }
  }
}
