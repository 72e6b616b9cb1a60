import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import type { ColumnValues } from '../database/rows.js';
import { ident, join, raw, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { ACTIVE_STATUSES, isFailed, isFinal } from './state-machine.js';
import type { JobStatus } from './unified-job.schema.js';

/** One run of a set that is moved together. */
export interface RunStep {
  id: number;
  /** Lease number the run must still have. */
  attempt?: number;
  /**
   * Added to the explanation the run has, after a space. What a pending run says is only what it
   * waits for, and is replaced.
   */
  explanation?: string;
}

/** Where a set of runs goes. */
export interface Move {
  from: readonly JobStatus[];
  to: JobStatus;
  /** Further columns, the same for all. */
  fields?: ColumnValues;
}

/** A run that was moved, as it is now. */
export interface MovedRun {
  id: number;
  type: string;
  status: JobStatus;
  attempt: number;
  unified_job_template_id: number | null;
  /** Code host that is told how the run goes; null for none. */
  reports_to: string | null;
}

/** A run somebody has just inserted. */
export type NewRun = Omit<MovedRun, 'attempt' | 'reports_to'> &
  Partial<Pick<MovedRun, 'reports_to'>>;

/** The status of runs, and what goes with it. `RunTransitions` says who is told. */
@Injectable()
export class RunStatesRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'unified_jobs');
  }

  /** Moves those of the runs that are still in one of the `from` statuses, under the lease named. */
  move(steps: readonly RunStep[], { from, to, fields = {} }: Move): Promise<MovedRun[]> {
    const ids = steps.map(({ id }) => id);
    const attempts = steps.map(({ attempt }) => attempt ?? null);
    const explanations = steps.map(({ explanation }) => explanation ?? '');
    const further = Object.entries(fields).map(([name, value]) => sql`${ident(name)} = ${value}`);
    const explained = Object.hasOwn(fields, 'job_explanation')
      ? []
      : [
          sql`job_explanation = CASE WHEN run.status = 'pending' THEN step.explanation
          ELSE ${appended(sql`step.explanation`)} END`,
        ];
    const sets = [...ownColumns(to), ...explained, ...further];
    return this.database.rows<MovedRun>(sql`
      UPDATE unified_jobs run SET status = ${to}, modified = now(), ${join(sets, ', ')}
      FROM unnest(${ids}::bigint[], ${attempts}::int[], ${explanations}::text[])
        AS step(id, attempt, explanation)
      WHERE run.id = step.id AND run.status = ANY(${from}::text[])
        AND (step.attempt IS NULL OR run.attempt = step.attempt)
      RETURNING run.id, run.type, run.status, run.attempt, run.unified_job_template_id,
        CASE WHEN run.webhook_credential_id IS NOT NULL THEN run.webhook_service END AS reports_to`);
  }

  /** Notes on runs that have not ended that they are to be canceled. @returns those that were not yet */
  requestCancel(
    ids: readonly number[],
    explanation: string,
  ): Promise<Pick<MovedRun, 'id' | 'status'>[]> {
    return this.database.rows(sql`
      UPDATE unified_jobs SET cancel_requested = true,
        canceled_on = coalesce(canceled_on, now()),
        job_explanation = CASE WHEN status = 'running'
          THEN ${appended(sql`${explanation}`)} ELSE job_explanation END
      WHERE id = ANY(${ids}::bigint[]) AND status = ANY(${ACTIVE_STATUSES}::text[])
        AND NOT cancel_requested
      RETURNING id, status`);
  }
}

/** The present explanation and a further one. */
function appended(more: Sql): Sql {
  return sql`trim(job_explanation || ' ' || ${more}::text)`;
}

/** What a status means for the other columns of the run; times by the database's clock. */
function ownColumns(to: JobStatus): Sql[] {
  const columns = [sql`failed = ${isFailed(to)}`];
  if (to === 'running') columns.push(raw('started = now()'));
  if (to === 'waiting') {
    columns.push(raw(`started = NULL, lease_until = NULL, lease_holder = ''`));
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
