import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import type { ColumnValues } from '../database/rows.js';
import { ident, join, sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { endOfOutput } from '../runs/events/job-events.repository.js';
import type { NewRun } from '../runs/run-states.repository.js';
import type { JobStatus, LaunchType } from '../runs/unified-job.schema.js';
import type { ProjectUpdateSchema } from './project-update.schema.js';

/** Common values of new updates. */
export interface UpdateOrigin {
  launchType: LaunchType;
  status: JobStatus;
  /** User who started it; a list has one entry for each project. */
  createdBy?: number | null | readonly (number | null)[];
}

/** An update in the representation of its project. */
export interface ShownUpdate {
  id: number;
  name: string;
  description: string;
  status: string;
  failed: boolean;
}

/** A started update with the data of its run, and the end of the output of an earlier attempt. */
export type StartedUpdate = Pick<
  RowOf<ProjectUpdateSchema>,
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
> & { counter: number; line: number };

@Injectable()
export class ProjectUpdatesRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'unified_jobs');
  }

  /**
   * Inserts one update for each project, in the given order, with the project's present options.
   * Manual projects get none.
   */
  insertOf(
    projectIds: readonly number[],
    { launchType, status, createdBy = null }: UpdateOrigin,
  ): Promise<NewRun[]> {
    const authors = Array.isArray(createdBy) ? createdBy : projectIds.map(() => createdBy);
    return this.database.rows<NewRun>(sql`
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
      RETURNING id, type, status, unified_job_template_id`);
  }

  /**
   * Stores the origin of updates.
   *
   * @returns the fields of their activity entries
   */
  sign(ids: readonly number[], origin: ColumnValues): Promise<Row[]> {
    const sets = Object.entries(origin).map(([name, value]) => sql`${ident(name)} = ${value}`);
    return this.database.rows<Row>(sql`
      UPDATE unified_jobs SET ${join(sets, ', ')}
      WHERE id = ANY(${ids}::bigint[]) RETURNING id, name, organization_id, project_id`);
  }

  /** Returns a running update. A retried update continues the numbering of its events. */
  async started(id: number): Promise<StartedUpdate> {
    const row = await this.database.row<StartedUpdate>(sql`
      SELECT run.project_id, run.organization_id, run.scm_type, run.scm_url, run.scm_branch,
        run.scm_refspec, run.scm_clean, run.scm_delete_on_update, run.scm_track_submodules, run.credential_id,
        run.local_path, run.timeout, stored.counter, stored.line
      FROM unified_jobs run CROSS JOIN LATERAL (${endOfOutput(sql`run.id`)}) stored
      WHERE run.id = ${id}`);
    return existing(row, 'a run that was started is there');
  }

  /** Returns updates with the fields that their projects display. */
  shown(ids: readonly number[]): Promise<ShownUpdate[]> {
    return this.database.preparedRows<ShownUpdate>(sql`
      SELECT id, name, description, status, failed FROM unified_jobs WHERE id = ANY(${ids}::bigint[])`);
  }

  async removeOf(project: number): Promise<void> {
    await this.delete({ unified_job_template_id: project, type: 'project_update' });
  }
}
