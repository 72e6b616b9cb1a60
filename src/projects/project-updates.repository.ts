import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { endOfOutput } from '../runs/events/job-events.repository.js';
import type { RunRequest } from '../runs/launcher.js';
import { requestedRuns } from '../runs/runs.repository.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import type { NewUpdate } from '../runs/update-launcher.js';
import type { ProjectUpdate } from './project-update.entity.js';

/** A started update with the data of its run, and the end of the output of an earlier attempt. */
export type StartedUpdate = Pick<
  RowOf<ProjectUpdate>,
  | 'project_id'
  | 'organization_id'
  | 'scm_type'
  | 'scm_url'
  | 'scm_branch'
  | 'scm_refspec'
  | 'scm_clean'
  | 'scm_delete_on_update'
  | 'scm_track_submodules'
  | 'credential_id'
  | 'local_path'
  | 'timeout'
> & { signature_validation_credential_id: number | null; counter: number; line: number };

@Injectable()
export class ProjectUpdatesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Inserts one update for each request, in their order, with the current options of the project. Skips
   * manual projects, and by the lock projects that are being deleted; otherwise the foreign key would fail.
   */
  insertOf(requests: readonly RunRequest[]): Promise<NewUpdate[]> {
    return this.database.rows<NewUpdate>(sql`
      INSERT INTO unified_jobs (type, name, description, unified_job_template_id, project_id,
        organization_id, launch_type, status, job_type, scm_type, scm_url, scm_branch, scm_refspec,
        scm_clean, scm_delete_on_update, scm_track_submodules, credential_id, local_path, timeout,
        created_by_id, modified_by_id, webhook_service, webhook_credential_id, webhook_guid,
        webhook_delivery_id)
      SELECT 'project_update', p.name, p.description, p.id, p.id, p.organization_id,
        wanted.launch_type, wanted.status, 'check', p.scm_type, p.scm_url, p.scm_branch,
        p.scm_refspec, p.scm_clean, p.scm_delete_on_update, p.scm_track_submodules,
        p.credential_id, p.local_path, p.timeout, wanted.created_by_id, wanted.created_by_id,
        wanted.webhook_service, wanted.webhook_credential_id, wanted.webhook_guid,
        wanted.webhook_delivery_id
      FROM (${requestedRuns(requests)}) wanted
      JOIN unified_job_templates p ON p.id = wanted.template_id
      WHERE p.type = 'project' AND p.scm_type <> ''
      ORDER BY wanted.place
      FOR KEY SHARE OF p
      RETURNING id, type, launch_type, status, unified_job_template_id, name, organization_id, project_id,
        CASE WHEN webhook_credential_id IS NOT NULL THEN webhook_service END AS reports_to`);
  }

  /**
   * Returns a running update; without a source if the project has become manual, because its files belong to
   * the user then. A retry continues the numbering of the update's events.
   */
  async started(id: number): Promise<StartedUpdate> {
    return this.database.rowOrFail<StartedUpdate>(sql`
      SELECT run.project_id, run.organization_id,
        CASE WHEN project.scm_type = '' THEN '' ELSE run.scm_type END AS scm_type, run.scm_url, run.scm_branch,
        run.scm_refspec, run.scm_clean, run.scm_delete_on_update, run.scm_track_submodules, run.credential_id,
        run.local_path, run.timeout, project.signature_validation_credential_id, stored.counter,
        stored.line
      FROM unified_jobs run
      LEFT JOIN unified_job_templates project ON project.id = run.project_id
      CROSS JOIN LATERAL (${endOfOutput(sql`run.id`)}) stored
      WHERE run.id = ${id}`);
  }

  async removeOf(project: number): Promise<void> {
    await this.delete({ unified_job_template_id: project, type: 'project_update' });
  }
}
