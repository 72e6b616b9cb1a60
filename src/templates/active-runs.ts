import { Conflict } from '../common/http/errors.js';
import type { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

/** @throws Conflict while runs of a template are on their way: it cannot be deleted */
export async function assertNoActiveRuns(database: Database, templateId: number): Promise<void> {
  const active = await database.row(sql`
    SELECT 1 FROM unified_jobs
    WHERE unified_job_template_id = ${templateId}
      AND status IN ('new', 'pending', 'waiting', 'running') LIMIT 1`);
  if (active) throw new Conflict('Resource is being used by running jobs.');
}
