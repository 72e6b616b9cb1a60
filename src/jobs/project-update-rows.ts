import { sql, type Sql } from '../database/sql.js';
import type { JobStatus, LaunchType } from './unified-job.schema.js';

/**
 * Inserts one sync per project with the project's options as they are now, and returns the rows as
 * `RunTransitions.created` wants them. Manual projects get none.
 */
export function insertProjectUpdates(
  projectIds: readonly number[],
  { launchType, status }: { launchType: LaunchType; status: JobStatus },
): Sql {
  return sql`
    INSERT INTO unified_jobs (type, name, description, unified_job_template_id, project_id,
      organization_id, launch_type, status, job_type, scm_type, scm_url, scm_branch, scm_refspec,
      scm_clean, scm_delete_on_update, scm_track_submodules, credential_id, local_path, timeout)
    SELECT 'project_update', name, description, id, id, organization_id, ${launchType}, ${status},
      'check', scm_type, scm_url, scm_branch, scm_refspec, scm_clean, scm_delete_on_update,
      scm_track_submodules, credential_id, local_path, timeout
    FROM unified_job_templates
    WHERE id = ANY(${projectIds}::int[]) AND type = 'project' AND scm_type <> ''
    ORDER BY id
    RETURNING id, type, status, unified_job_template_id`;
}
