import { Injectable } from '@nestjs/common';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { sql, type Sql } from '../database/sql.js';
import { retentionOfTemplates } from '../templates/templates.repository.js';
import { RunWorkflows } from './run-causes.js';
import { UnifiedJob } from './unified-job.entity.js';

/** A run that the cleanup checked, in the order of creation. */
export interface OldRun {
  id: number;
  /** Time of creation in full precision. */
  created: string;
  isRemovable: boolean;
}

/** The retention of a template or organization, which overrides the general retention. */
export interface RetentionOverride {
  template: number | null;
  /** Organization; the override applies to its runs whose template sets no retention. */
  organization: number | null;
  days: number | null;
  /** Id of the oldest run of the template that is kept; null if any number is kept. */
  oldest: number | null;
}

export interface RetentionRules {
  /** Age in days from which finished runs are removed. */
  days: number;
  overrides: readonly RetentionOverride[];
  /** Returns the SQL condition that a run is needed, given the SQL of its id. */
  isNeeded: (run: Sql) => Sql;
}

/** Removes old runs of every kind. Approvals are removed with their workflow job. */
@Injectable()
export class OldRunsRepository extends TableRepository<UnifiedJob> {
  constructor(
    @InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>,
    private readonly workflows: RunWorkflows,
  ) {
    super(repository);
  }

  /**
   * Returns the retention of the templates and organizations that set one.
   *
   * @param organizations query for `id`, `retention_days` and `retention_runs`
   */
  retentionOverrides(organizations: Sql): Promise<RetentionOverride[]> {
    return this.database.rows<RetentionOverride>(sql`
      WITH org AS (${organizations}), own AS (
        SELECT tpl.id, coalesce(tpl.retention_days, org.retention_days) AS days,
          coalesce(tpl.retention_runs, org.retention_runs) AS runs
        FROM (${retentionOfTemplates()}) tpl LEFT JOIN org ON org.id = tpl.organization_id)
      SELECT own.id AS template, NULL::int AS organization, own.days, oldest.id AS oldest
      FROM own LEFT JOIN LATERAL (
        SELECT id FROM unified_jobs
        -- The range makes PostgreSQL use the index of runs by template, not that of all ids.
        WHERE unified_job_template_id BETWEEN own.id AND own.id AND own.runs IS NOT NULL
        ORDER BY unified_job_template_id DESC, id DESC OFFSET greatest(own.runs - 1, 0) LIMIT 1) oldest ON true
      WHERE own.days IS NOT NULL OR oldest.id IS NOT NULL
      UNION ALL
      SELECT NULL, id, retention_days, NULL FROM org WHERE retention_days IS NOT NULL`);
  }

  /** Returns up to `limit` old runs after a run; runs of active workflows are not removable. */
  after(
    { id, created }: Pick<OldRun, 'id' | 'created'>,
    { days, overrides, isNeeded }: RetentionRules,
    limit: number,
  ): Promise<OldRun[]> {
    const minDays = Math.min(
      days,
      ...overrides.map((override) => (override.oldest === null ? (override.days ?? days) : 0)),
    );
    return this.database.rows<OldRun>(sql`
      SELECT run.id, run.created::text AS created, (run.type <> 'workflow_approval'
        AND run.finished IS NOT NULL
        AND (run.id < tpl.oldest OR run.finished
          < now() - make_interval(days => coalesce(tpl.days, org.days, ${days}::int)))
        AND NOT ${isNeeded(sql`run.id`)}
        AND NOT EXISTS (
          SELECT 1 FROM (${this.workflows.nodesOfRuns()}) node
          JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
          WHERE node.job_id = run.id AND workflow.finished IS NULL)) IS TRUE AS "isRemovable"
      FROM (
        SELECT id, created, finished, type, unified_job_template_id, organization_id
        FROM unified_jobs
        WHERE (created, id) > (${created}::timestamptz, ${id}::bigint)
          AND created < now() - make_interval(days => ${minDays}::int)
        ORDER BY created, id LIMIT ${limit}) run
      LEFT JOIN unnest(${overrides.map((override) => override.template)}::int[], ${overrides.map((override) => override.days)}::int[],
        ${overrides.map((override) => override.oldest)}::bigint[]) AS tpl (id, days, oldest)
        ON tpl.id = run.unified_job_template_id
      LEFT JOIN unnest(${overrides.map((override) => override.organization)}::int[],
        ${overrides.map((override) => override.days)}::int[]) AS org (id, days) ON org.id = run.organization_id
      ORDER BY run.created, run.id`);
  }

  /** Deletes finished runs with everything that belongs to them. */
  removeRuns(ids: readonly number[]): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM unified_jobs WHERE id = ANY(${ids}::bigint[]) AND finished IS NOT NULL`);
  }
}
