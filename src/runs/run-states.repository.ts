import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import type { ColumnValues } from '../database/rows.js';
import { ident, join, raw, sql, TRUE, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { ACTIVE_STATUSES, isFailed, isFinal } from './state-machine.js';
import { type JobStatus, type LaunchType, UnifiedJob } from './unified-job.entity.js';

/** One run of a set whose status changes together. */
export interface RunStep {
  id: number;
  /** Lease number that the run must have, otherwise it does not change. */
  attempt?: number;
  /**
   * Text that is appended to the run's explanation, after a space. It replaces the explanation of a
   * pending run, which only says why the run waits.
   */
  explanation?: string;
}

/** A status change of a set of runs. */
export interface StateMove {
  from: readonly JobStatus[];
  to: JobStatus;
  /** Further columns, with the same values for all runs. */
  fields?: ColumnValues;
  /** Instance and group of each run by its id. Locked runs do not change; a later pass places them. */
  placements?: ReadonlyMap<number, { hostname: string; group: number }>;
  /** Further SQL condition on a run, whose alias is `run`. */
  where?: Sql;
}

/** A run after its status change. */
export interface MovedRun {
  id: number;
  type: string;
  launch_type: LaunchType;
  status: JobStatus;
  attempt: number;
  unified_job_template_id: number | null;
  /** Code host that receives status posts of the run; null: none. */
  reports_to: string | null;
}

/** A newly inserted run. */
export type NewRun = Omit<MovedRun, 'attempt' | 'launch_type' | 'reports_to'> &
  Partial<Pick<MovedRun, 'launch_type' | 'reports_to'>>;

/**
 * The status of runs and the columns that depend on it. `RunTransitions` notifies the listeners.
 */
@Injectable()
export class RunStatesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Changes the status of those runs that are still in one of the `from` statuses and have the
   * given lease number.
   */
  move(
    steps: readonly RunStep[],
    { from, to, fields = {}, placements, where = TRUE }: StateMove,
  ): Promise<MovedRun[]> {
    const ids = steps.map(({ id }) => id);
    const isFree = sql`run.id IN (
      SELECT id FROM unified_jobs WHERE id = ANY(${ids}::bigint[]) FOR NO KEY UPDATE SKIP LOCKED)`;
    const attempts = steps.map(({ attempt }) => attempt ?? null);
    const explanations = steps.map(({ explanation }) => explanation ?? '');
    const fieldColumns = Object.entries(fields).map(
      ([name, value]) => sql`${ident(name)} = ${value}`,
    );
    const explanationColumns = Object.hasOwn(fields, 'job_explanation')
      ? []
      : [
          sql`job_explanation = CASE WHEN run.status = 'pending' THEN step.explanation
          ELSE trim(job_explanation || ' ' || step.explanation) END`,
        ];
    const sets = [
      ...statusColumns(to),
      ...explanationColumns,
      ...fieldColumns,
      ...(placements ? placementColumns(placements) : []),
    ];
    return this.database.rows<MovedRun>(sql`
      UPDATE unified_jobs run SET status = ${to}, modified = now(), ${join(sets)}
      FROM unnest(${ids}::bigint[], ${attempts}::int[], ${explanations}::text[])
        AS step(id, attempt, explanation)
      WHERE run.id = step.id AND run.status = ANY(${from}::text[])
        AND (step.attempt IS NULL OR run.attempt = step.attempt)
        AND ${where} AND ${placements ? isFree : TRUE}
      RETURNING run.id, run.type, run.launch_type, run.status, run.attempt, run.unified_job_template_id,
        CASE WHEN run.webhook_credential_id IS NOT NULL THEN run.webhook_service END AS reports_to`);
  }

  /**
   * Requests the cancellation of active runs.
   *
   * @returns the runs that had no cancel request before
   */
  requestCancel(ids: readonly number[]): Promise<Pick<MovedRun, 'id' | 'status'>[]> {
    return this.database.rows(sql`
      UPDATE unified_jobs SET cancel_requested = true,
        canceled_on = coalesce(canceled_on, now())
      WHERE id = ANY(${ids}::bigint[]) AND status = ANY(${ACTIVE_STATUSES}::text[])
        AND NOT cancel_requested
      RETURNING id, status`);
  }
}

/** Returns the assignments of instance and group for each run. */
function placementColumns(placements: NonNullable<StateMove['placements']>): Sql[] {
  const at = sql`array_position(${[...placements.keys()]}::bigint[], run.id::bigint)`;
  const values = [...placements.values()];
  return [
    sql`execution_node = (${values.map(({ hostname }) => hostname)}::text[])[${at}]`,
    sql`instance_group_id = (${values.map(({ group }) => group)}::int[])[${at}]`,
  ];
}

/** Returns the assignments that depend on the new status; times come from the database's clock. */
function statusColumns(to: JobStatus): Sql[] {
  const columns = [sql`failed = ${isFailed(to)}`];
  if (to === 'running') columns.push(raw('started = now()'));
  if (to === 'pending') {
    columns.push(
      raw(`started = NULL, lease_until = NULL, lease_holder = '', execution_node = '',
        controller_node = '', instance_group_id = NULL`),
    );
  }
  if (to === 'canceled') columns.push(raw('canceled_on = coalesce(canceled_on, now())'));
  if (isFinal(to)) {
    columns.push(
      raw(`finished = now(),
        elapsed = coalesce(round(extract(epoch FROM now() - started)::numeric, 3), 0),
        start_args = '', lease_until = NULL, event_processing_finished = true`),
    );
  }
  return columns;
}
