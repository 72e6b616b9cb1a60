import { Injectable } from '@nestjs/common';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql } from '../database/sql.js';
import { endOfOutput } from '../runs/events/job-events.repository.js';
import type { RunRequest } from '../runs/launcher.js';
import { requestedRuns } from '../runs/runs.repository.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import type { NewUpdate } from '../runs/update-launcher.js';
import type { SystemJob } from './system-job.entity.js';

/** A started system job, and the end of the output of an earlier attempt. */
export type StartedSystemJob = Pick<SystemJob, 'job_type' | 'extra_vars'> & {
  counter: number;
  line: number;
};

@Injectable()
export class SystemJobsRepository extends TableRepository<UnifiedJob> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Inserts one system job for each request, in the order of the requests.
   *
   * @param variables JSON texts, one for each request
   */
  insertOf(requests: readonly RunRequest[], variables: readonly string[]): Promise<NewUpdate[]> {
    return this.database.rows<NewUpdate>(sql`
      INSERT INTO unified_jobs (type, name, description, unified_job_template_id, job_type,
        extra_vars, launch_type, status, created_by_id, modified_by_id)
      SELECT 'system_job', tpl.name, tpl.description, tpl.id, tpl.job_type,
        (${variables}::text[])[wanted.place], wanted.launch_type, wanted.status,
        wanted.created_by_id, wanted.created_by_id
      FROM (${requestedRuns(requests)}) wanted
      JOIN unified_job_templates tpl ON tpl.id = wanted.template_id
      WHERE tpl.type = 'system_job_template'
      ORDER BY wanted.place
      RETURNING id, type, status, unified_job_template_id, name, organization_id`);
  }

  /** Returns a running system job. A retry continues the numbering of the job's events. */
  async started(id: number): Promise<StartedSystemJob> {
    return this.database.rowOrFail<StartedSystemJob>(sql`
      SELECT run.job_type, run.extra_vars, stored.counter, stored.line
      FROM unified_jobs run CROSS JOIN LATERAL (${endOfOutput(sql`run.id`)}) stored
      WHERE run.id = ${id}`);
  }
}
