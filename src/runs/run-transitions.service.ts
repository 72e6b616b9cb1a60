import { Injectable } from '@nestjs/common';
import { failPoint } from '../common/fail-point.js';
import { QueuePort } from '../common/queue/queue.port.js';
import { Database } from '../database/database.js';
import type { ColumnValues } from '../database/rows.js';
import { ident, join, raw, sql, type Sql } from '../database/sql.js';
import { RunChanges } from './run-changes.service.js';
import { RunSignals } from './run-signals.service.js';
import { ACTIVE_STATUSES, assertMoves, isFailed, isFinal } from './state-machine.js';
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
  /** Newer runs take the place of these, so nobody has to hear of their end. */
  isReplaced?: boolean;
}

/** A run that was moved, as it is now. */
export interface MovedRun {
  id: number;
  type: string;
  status: JobStatus;
  attempt: number;
  unified_job_template_id: number | null;
}

/** A run somebody has just inserted. */
export type NewRun = Pick<MovedRun, 'id' | 'type' | 'status' | 'unified_job_template_id'>;

const UNSTARTED = ['new', 'pending', 'waiting'] as const;

/**
 * The only place that changes the status of runs. A step is one statement however many runs it has,
 * fenced by status and lease number; whatever depends on it is written in the same transaction.
 */
@Injectable()
export class RunTransitions {
  constructor(
    private readonly database: Database,
    private readonly changes: RunChanges,
    private readonly signals: RunSignals,
    private readonly queue: QueuePort,
  ) {}

  /**
   * Moves those of the runs that are still in one of the `from` statuses and under the lease named.
   *
   * @returns the runs that were moved; one that is missing was changed by somebody else, and whoever
   *   asked must stop
   */
  async move(runs: readonly (number | RunStep)[], move: Move): Promise<MovedRun[]> {
    assertMoves(move.from, move.to);
    if (runs.length === 0) return [];
    const steps = runs.map((run) => (typeof run === 'number' ? { id: run } : run));
    return this.database.transaction(async () => {
      const moved = await this.database.rows<MovedRun>(moveStatement(steps, move));
      await this.follow(moved, move.isReplaced);
      return moved;
    });
  }

  /** To be called with the rows of runs inserted as `pending` or `new`, in their transaction. */
  async created(runs: readonly NewRun[]): Promise<void> {
    if (runs.length === 0) return;
    const templates = templateIds(runs);
    // A template that shows a run already is left alone: launches of one template do not queue up
    // behind each other for its row.
    if (templates.length > 0) {
      await this.database.execute(sql`
        UPDATE unified_job_templates t SET current_job_id = run.id, status = run.status
        FROM (${latestOf(runs)}) run
        WHERE t.id = run.template_id AND t.id = ANY(${templates}::int[])
          AND t.current_job_id IS NULL`);
    }
    await this.changes.publish(runs.map(({ id, type, status }) => ({ jobId: id, type, status })));
    failPoint('run-created');
    if (!runs.some(({ status }) => status === 'pending')) return;
    this.database.afterCommit(() => {
      failPoint('run-committed');
      this.queue.wakeScheduler();
    });
  }

  /**
   * Cancels runs (docs/contract/runs.md#cancel): those that have not started at once, those that
   * run as soon as their worker has ended them. Runs that are over stay as they are.
   *
   * @returns the runs that were active
   */
  async cancel(ids: readonly number[], explanation = ''): Promise<number[]> {
    return this.database.transaction(async () => {
      // The flag first: it locks the rows, so no run slips from waiting to running in between.
      const active = await this.database.rows<{ id: number; status: JobStatus }>(sql`
        UPDATE unified_jobs SET cancel_requested = true,
          canceled_on = coalesce(canceled_on, now()),
          job_explanation = CASE WHEN status = 'running'
            THEN ${appended(sql`${explanation}`)} ELSE job_explanation END
        WHERE id = ANY(${ids}::int[]) AND status = ANY(${ACTIVE_STATUSES}::text[])
          AND NOT cancel_requested
        RETURNING id, status`);
      const unstarted = active.filter(({ status }) => status !== 'running');
      await this.move(
        unstarted.map(({ id }) => ({ id, explanation })),
        { from: UNSTARTED, to: 'canceled' },
      );
      const running = active.filter(({ status }) => status === 'running').map(({ id }) => id);
      this.database.afterCommit(() => {
        this.signals.requestCancel(running);
        // A run made of other runs is ended by the scheduler, not by a worker.
        if (running.length > 0) this.queue.wakeScheduler();
      });
      return active.map(({ id }) => id);
    });
  }

  private async follow(moved: readonly MovedRun[], isReplaced = false): Promise<void> {
    const [first] = moved;
    if (!first) return;
    const { status } = first;
    await this.database.execute(
      isFinal(status) ? templatesAfter(moved, status) : templatesDuring(moved),
    );
    await this.changes.publish(
      moved.map(({ id, type }) => ({ jobId: id, type, status, isReplaced })),
    );
    this.database.afterCommit(() => {
      this.signals.announce(moved.map(({ id }) => [id, { status }]));
      // What ended makes room, and what is new wants some.
      if (isFinal(status) || status === 'pending') this.queue.wakeScheduler();
    });
  }
}

/** The present explanation and a further one. */
function appended(more: Sql): Sql {
  return sql`trim(job_explanation || ' ' || ${more}::text)`;
}

function moveStatement(steps: readonly RunStep[], { from, to, fields = {} }: Move): Sql {
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
  return sql`
    UPDATE unified_jobs run SET status = ${to}, modified = now(), ${join(sets, ', ')}
    FROM unnest(${ids}::int[], ${attempts}::int[], ${explanations}::text[])
      AS step(id, attempt, explanation)
    WHERE run.id = step.id AND run.status = ANY(${from}::text[])
      AND (step.attempt IS NULL OR run.attempt = step.attempt)
    RETURNING run.id, run.type, run.status, run.attempt, run.unified_job_template_id`;
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

/** The newest run of each template of a set: the one its template shows. */
function latestOf(runs: readonly NewRun[]): Sql {
  return sql`
    SELECT DISTINCT ON (template_id) template_id, id, status
    FROM unnest(${runs.map(({ unified_job_template_id: id }) => id)}::int[],
                ${runs.map(({ id }) => id)}::int[],
                ${runs.map(({ status }) => status)}::text[]) AS given(template_id, id, status)
    WHERE template_id IS NOT NULL ORDER BY template_id, id DESC`;
}

function templateIds(runs: readonly NewRun[]): number[] {
  return [...new Set(runs.flatMap((run) => run.unified_job_template_id ?? []))];
}

function templatesDuring(moved: readonly MovedRun[]): Sql {
  return sql`
    UPDATE unified_job_templates t SET current_job_id = run.id, status = run.status
    FROM (${latestOf(moved)}) run
    WHERE t.id = run.template_id`;
}

/** A template goes on showing another run of it that is on its way. */
function templatesAfter(moved: readonly MovedRun[], status: JobStatus): Sql {
  const ids = moved.map(({ id }) => id);
  const isOver = sql`coalesce(t.current_job_id = ANY(${ids}::int[]), true)`;
  return sql`
    UPDATE unified_job_templates t SET last_job_id = run.id, last_job_run = now(),
      last_job_failed = ${isFailed(status)},
      status = CASE WHEN ${isOver} THEN run.status ELSE t.status END,
      current_job_id = CASE WHEN ${isOver} THEN NULL ELSE t.current_job_id END
    FROM (${latestOf(moved)}) run
    WHERE t.id = run.template_id`;
}
