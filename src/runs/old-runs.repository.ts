import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql, type Sql } from '../database/sql.js';
import { RunWorkflows } from './run-causes.js';
import { UnifiedJob } from './unified-job.entity.js';

/** A run that was looked at, in the order of creation. */
export interface OldRun {
  id: number;
  /** Time of creation in full precision. */
  created: string;
  isRemovable: boolean;
}

/** The rules by which runs are removed. */
export interface RetentionRules {
  /** Age in days from which finished runs are removed. */
  days: number;
  /** Returns the SQL condition that a run is needed, given the SQL of its id. */
  isNeeded: (run: Sql) => Sql;
}

/** Removes old runs of every kind. Approvals are removed with their workflow job. */
@Injectable()
export class OldRunsRepository extends TableRepository<Row> {
  constructor(
    @InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>,
    private readonly workflows: RunWorkflows,
  ) {
    super(repository);
  }

  /** Returns up to `most` old runs after another one; runs of active workflows are not removable. */
  after(
    { id, created }: Pick<OldRun, 'id' | 'created'>,
    { days, isNeeded }: RetentionRules,
    most: number,
  ): Promise<OldRun[]> {
    return this.database.rows<OldRun & Row>(sql`
      SELECT run.id, run.created::text AS created, (run.type <> 'workflow_approval'
        AND run.finished < now() - make_interval(days => ${days}::int)
        AND NOT ${isNeeded(sql`run.id`)}
        AND NOT EXISTS (
          SELECT 1 FROM (${this.workflows.nodesOfRuns()}) node
          JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
          WHERE node.job_id = run.id AND workflow.finished IS NULL)) IS TRUE AS "isRemovable"
      FROM (
        SELECT id, created, finished, type FROM unified_jobs
        WHERE (created, id) > (${created}::timestamptz, ${id}::bigint)
          AND created < now() - make_interval(days => ${days}::int)
        ORDER BY created, id LIMIT ${most}) run
      ORDER BY run.created, run.id`);
  }

  /** Deletes finished runs with everything that belongs to them. */
  removeRuns(ids: readonly number[]): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM unified_jobs WHERE id = ANY(${ids}::bigint[]) AND finished IS NOT NULL`);
  }
}
