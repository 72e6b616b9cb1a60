import { Injectable } from '@nestjs/common';
import { existing } from '../../common/invariants.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { insertProjectUpdates } from '../../launching/project-update-rows.js';
import { previousTask } from '../../runs/run-explanations.js';
import { RunTransitions, type NewRun } from '../../runs/run-transitions.service.js';
import type { JobStatus } from '../../runs/unified-job.schema.js';

/** Jobs looked at in one pass; the next pass follows at once when there were as many. */
const BATCH = 2000;

interface UnsettledJob {
  id: number;
  project_id: number | null;
  /** The project has a source to be fetched from, and this job's launch is a reason to do so. */
  wants_sync: boolean;
  /** A sync of the project that is on its way, if any. */
  active_update_id: number | null;
}

interface BrokenJob {
  id: number;
  status: JobStatus;
  type: string;
  name: string;
  dependency_id: number;
}

/** What must have happened before a job may start (docs/contract/runs.md#dependencies). */
@Injectable()
export class Dependencies {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
  ) {}

  /**
   * Decides once for every new job which project sync it has to wait for, and creates the missing
   * ones: one per project, shared by all jobs of this pass.
   *
   * @returns whether more jobs are left to be looked at
   */
  async settle(): Promise<boolean> {
    const jobs = await this.unsettled();
    if (jobs.length === 0) return false;
    const wanting = jobs.filter((job) => job.wants_sync && job.active_update_id === null);
    const projectIds = [...new Set(wanting.flatMap((job) => job.project_id ?? []))];
    const created = projectIds.length > 0 ? await this.createUpdates(projectIds) : new Map();
    const updates = jobs.map(({ wants_sync, active_update_id, project_id }) =>
      wants_sync && project_id !== null
        ? (active_update_id ?? created.get(project_id) ?? null)
        : null,
    );
    await this.database.execute(sql`
      UPDATE unified_jobs SET dependencies_processed = true,
        depends_on = CASE WHEN given.update_id IS NULL THEN depends_on
          ELSE json_build_array(given.update_id) END,
        project_update_id = coalesce(given.update_id, project_update_id)
      FROM unnest(${jobs.map(({ id }) => id)}::int[], ${updates}::int[]) AS given(id, update_id)
      WHERE unified_jobs.id = given.id`);
    return jobs.length === BATCH;
  }

  /** Ends the pending jobs whose dependency did not succeed; a canceled one cancels them. */
  async endBroken(): Promise<void> {
    const broken = await this.database.rows<BrokenJob>(sql`
      SELECT DISTINCT ON (job.id) job.id, dependency.status, dependency.type, dependency.name,
        dependency.id AS dependency_id
      FROM unified_jobs job
      CROSS JOIN LATERAL json_array_elements_text(job.depends_on) AS wanted(id)
      JOIN unified_jobs dependency ON dependency.id = wanted.id::int
      WHERE job.status = 'pending' AND dependency.status IN ('failed', 'error', 'canceled')
      ORDER BY job.id, dependency.id`);
    const isCanceled = ({ status }: BrokenJob) => status === 'canceled';
    await this.transitions.move(
      broken.filter((job) => !isCanceled(job)).map((job) => explained(job, 'Failed')),
      { from: ['pending'], to: 'failed' },
    );
    await this.transitions.move(
      broken.filter(isCanceled).map((job) => explained(job, 'Canceled')),
      { from: ['pending'], to: 'canceled' },
    );
  }

  /** `id + 0` keeps the planner from looking for a project's last sync among the runs of everybody. */
  private unsettled(): Promise<UnsettledJob[]> {
    return this.database.rows<UnsettledJob>(sql`
      WITH unsettled AS (
        SELECT id, project_id FROM unified_jobs
        WHERE type = 'job' AND status = 'pending' AND NOT dependencies_processed
        ORDER BY id LIMIT ${BATCH})
      SELECT job.id, job.project_id,
        coalesce(project.scm_type, '') <> '' AND (
          project.scm_revision = ''
          OR latest.status IN ('pending', 'waiting', 'running')
          OR project.scm_update_on_launch AND (
            latest.status IS DISTINCT FROM 'successful'
            OR latest.finished + make_interval(secs => project.scm_update_cache_timeout) < now()
          )) AS wants_sync,
        CASE WHEN latest.status IN ('pending', 'waiting', 'running') THEN latest.id END
          AS active_update_id
      FROM unsettled job
      LEFT JOIN unified_job_templates project ON project.id = job.project_id
      LEFT JOIN LATERAL (
        SELECT id, status, finished FROM unified_jobs
        WHERE type = 'project_update' AND unified_job_template_id = project.id
          AND launch_type <> 'sync' AND status <> 'new'
        ORDER BY id + 0 DESC LIMIT 1) latest ON true
      ORDER BY job.id`);
  }

  /** @returns id of the new sync by project */
  private async createUpdates(projectIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.rows<NewRun>(
      insertProjectUpdates(projectIds, { launchType: 'dependency', status: 'pending' }),
    );
    await this.transitions.created(rows);
    return new Map(
      rows.map((row) => [
        existing(row.unified_job_template_id, 'an update is one of a project'),
        row.id,
      ]),
    );
  }
}

const explained = (job: BrokenJob, end: 'Failed' | 'Canceled') => ({
  id: job.id,
  explanation: previousTask(end, { type: job.type, name: job.name, id: job.dependency_id }),
});
