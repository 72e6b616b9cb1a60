import { Injectable, Logger } from '@nestjs/common';
import { stackOf } from '../../common/errors/errors.js';
import { failPoint } from '../../common/fail-point.js';
import { Outbox } from '../../common/queue/outbox.service.js';
import { Database } from '../../database/database.js';
import { isStatementTimeout, isTransient } from '../../database/sql-state.js';
import { raw, sql, type Sql } from '../../database/sql.js';
import { mayStartOn } from '../../instances/instance-groups.repository.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { NEEDS_ENGINE } from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import type { JobStatus } from '../../runs/unified-job.entity.js';
import { ActiveRuns, LEASE_SECONDS, RunEnded, type ActiveRun } from './active-runs.service.js';
import { isExplained, outcomeOf, type RunOutcome } from './outcome.js';
import { retryOutage } from './outage-retry.js';
import { WorkerNode } from './worker-node.service.js';

const NOT_STORED = 'The results of the run could not be stored.';
const TOO_SLOW =
  'The results of the run could not be stored, because a statement took longer than STATEMENT_TIMEOUT_MS.';
/** Maximum number of attempts to store results that exceed the timeout of a statement: the server can be busy. */
const MAX_TIMEOUTS = 3;
/** Maximum time to store the end of a run during shutdown, in ms. */
const SHUTDOWN_TIMEOUT_MS = 8000;

/** Claims and releases runs. Each step is one fenced statement and its side effects. */
@Injectable()
export class Leases {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly rows: RunLeasesRepository,
    private readonly outbox: Outbox,
    private readonly node: WorkerNode,
    private readonly active: ActiveRuns,
  ) {}

  /**
   * Starts a run under a new lease number. The queue message is acknowledged in the same transaction:
   * from then on the lease ensures that the run is not lost.
   *
   * @returns null if the run cannot start here
   */
  async take(id: number): Promise<ActiveRun | null> {
    const attempt = await this.lease(id, 'waiting');
    failPoint('run-leased');
    return attempt === null ? null : this.active.add(id, attempt);
  }

  /**
   * Starts a run like `take`, in the caller's transaction.
   *
   * @returns number of the lease; null if the run cannot start here
   */
  async lease(id: number, from: JobStatus): Promise<number | null> {
    const holder = await this.node.name();
    return this.database.transaction(async () => {
      const runs = await this.transitions.move([id], {
        from: [from],
        to: 'running',
        ...(from === 'waiting' ? { where: this.placementCondition() } : {}),
        fields: {
          attempt: raw('run.attempt + 1'),
          lease_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})`,
          lease_holder: holder,
          execution_node: this.node.hostname,
          controller_node: this.node.hostname,
          event_processing_finished: false,
        },
      });
      // A run that is still waiting belongs to another instance or is placed again.
      const isElsewhere = runs.length === 0 && (await this.rows.isWaiting(id));
      if (!isElsewhere) await this.outbox.acknowledge('runs', id);
      return runs[0]?.attempt ?? null;
    });
  }

  /** Stores the end of a run; retries during a database outage. Writes nothing if the lease is lost. */
  async finish(run: ActiveRun, outcome: RunOutcome): Promise<void> {
    if (run.reason === 'lost') return;
    failPoint('run-finishing');
    const failure = await this.storeEnd(run, () => this.end(run, outcome));
    if (failure === null) return failPoint('run-finished');
    // The results of the run could not be stored; the end of the run still can.
    const { fields } = outcome;
    const fallback = fallbackOutcome(run, failure);
    await this.storeEnd(run, () =>
      this.end(run, { ...fallback, fields: { ...fields, ...fallback.fields } }),
    );
  }

  /** Releases a run that has not started, so that the scheduler places the run again. */
  async release(run: ActiveRun): Promise<void> {
    if (run.reason === 'lost') return;
    const { id, attempt } = run;
    await this.storeEnd(run, () => this.transitions.requeue({ id, attempt }));
  }

  /** Returns the SQL condition that a waiting run may start here, because the message can be outdated. */
  private placementCondition(): Sql {
    return sql`run.execution_node = ${this.node.hostname}
      AND ${mayStartOn(sql`run.instance_group_id`, sql`run.execution_node`, NEEDS_ENGINE)}`;
  }

  private async end(run: ActiveRun, outcome: RunOutcome): Promise<void> {
    const { status, explanation = '', fields, write, complete } = outcome;
    const completed = await complete?.();
    const moved = await this.transitions.move([{ id: run.id, attempt: run.attempt, explanation }], {
      from: ['running'],
      to: status,
      ...(fields || completed ? { fields: { ...fields, ...completed } } : {}),
    });
    if (moved.length > 0) return write?.();
    // Throws, so that the transaction undoes work that was done under a lost lease.
    if (complete) throw new RunEnded('The lease is gone.');
  }

  /**
   * @returns the error if the outcome itself could not be stored; null if it was stored or cannot
   *   be stored at all
   */
  private async storeEnd(run: ActiveRun, work: () => Promise<void>): Promise<unknown> {
    const started = Date.now();
    let timeouts = 0;
    const mayWait = (error: unknown) =>
      run.reason !== 'lost' &&
      !(isStatementTimeout(error) && ++timeouts === MAX_TIMEOUTS) &&
      !(this.active.isStopping && Date.now() - started > SHUTDOWN_TIMEOUT_MS);
    try {
      await retryOutage(() => this.database.transaction(work), mayWait);
      return null;
    } catch (error) {
      if (error instanceof RunEnded || isExplained(error)) return error;
      const reason = stackOf(error);
      this.logger.error({ message: 'end of a run not stored', run: run.id, reason });
      // Without a database the lease expires, and the recovery determines the outcome of the run.
      return isTransient(error) && !isStatementTimeout(error) ? null : error;
    }
  }
}

/** Returns the outcome to store for a run whose actual outcome could not be stored. */
function fallbackOutcome({ reason }: ActiveRun, failure: unknown): RunOutcome {
  if (failure instanceof RunEnded) {
    return reason === 'cancel'
      ? { status: 'canceled', explanation: failure.message }
      : { status: 'failed' };
  }
  if (isExplained(failure)) return outcomeOf(failure);
  return { status: 'error', explanation: isStatementTimeout(failure) ? TOO_SLOW : NOT_STORED };
}
