import { sql, type Sql } from '../database/sql.js';
import type { JobStatus, LaunchType } from '../runs/unified-job.schema.js';

/**
 * Inserts one sync for each project named, in that order, with the project's options as they are now, and returns the rows as
 * `RunTransitions.created` wants them. Manual projects get none.
 *
 * @param createdBy whoever asked for it; a list names one for each project
 */
export function insertProjectUpdates(
  projectIds: readonly number[],
  {
    launchType,
    status,
    createdBy = null,
  }: {
    launchType: LaunchType;
    status: JobStatus;
    createdBy?: number | null | readonly (number | null)[];
  },
): Sql {
  const authors = Array.isArray(createdBy) ? createdBy : projectIds.map(() => createdBy);
  return sql`
    INSERT INTO unified_jobs (type, name, description, unified_job_template_id, project_id,
      organization_id, launch_type, status, job_type, scm_type, scm_url, scm_branch, scm_refspec,
      scm_clean, scm_delete_on_update, scm_track_submodules, credential_id, local_path, timeout,
      created_by_id, modified_by_id)
    SELECT 'project_update', p.name, p.description, p.id, p.id, p.organization_id, ${launchType},
      ${status}, 'check', p.scm_type, p.scm_url, p.scm_branch, p.scm_refspec, p.scm_clean,
      p.scm_delete_on_update, p.scm_track_submodules, p.credential_id, p.local_path, p.timeout,
      wanted.created_by_id, wanted.created_by_id
    FROM unnest(${projectIds}::int[], ${authors}::int[])
      WITH ORDINALITY AS wanted (id, created_by_id, place)
    JOIN unified_job_templates p ON p.id = wanted.id
    WHERE p.type = 'project' AND p.scm_type <> ''
    ORDER BY wanted.place
    RETURNING id, type, status, unified_job_template_id`;
}
