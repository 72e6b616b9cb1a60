import { Injectable } from '@nestjs/common';
import { settleAll } from '../database/settle-all.js';
import { failPoint } from '../common/fail-point.js';
import { QueuePort } from '../common/queue/queue.port.js';
import { Database } from '../database/database.js';
import { raw } from '../database/sql.js';
import { RunChanges } from './run-changes.service.js';
import { RunSignals } from './run-signals.service.js';
import { assertMoves, isFailed, isFinal } from './state-machine.js';
import {
  RunStatesRepository,
  type StateMove,
  type MovedRun,
  type RunStep,
  type NewRun,
} from './run-states.repository.js';
import { TemplatesRepository } from '../templates/templates.repository.js';

/** A status change of a set of runs, with its effect on listeners. */
export interface Move extends StateMove {
  /** True if newer runs replace these, so that no listener reports their end. */
  isReplaced?: boolean;
}

const UNSTARTED = ['new', 'pending', 'waiting'] as const;

/**
 * The only place that changes the status of runs. A change is one statement, independent of the
 * number of runs, fenced by status and lease number. All dependent rows are written in the same
 * transaction.
 */
@Injectable()
export class RunTransitions {
  constructor(
    private readonly database: Database,
    private readonly states: RunStatesRepository,
    private readonly templates: TemplatesRepository,
    private readonly changes: RunChanges,
    private readonly signals: RunSignals,
    private readonly queue: QueuePort,
  ) {}

  /**
   * Changes the status of those runs that are still in one of the `from` statuses and have the
   * given lease number.
   *
   * @returns the changed runs; a missing run was changed by another process, and the caller must
   *   stop working on it
   */
  async move(runs: readonly (number | RunStep)[], move: Move): Promise<MovedRun[]> {
    assertMoves(move.from, move.to);
    if (runs.length === 0) return [];
    const steps = runs.map((run) => (typeof run === 'number' ? { id: run } : run));
    return this.database.transaction(async () => {
      const moved = await this.states.move(steps, move);
      await this.publishMoved(moved, move.isReplaced);
      return moved;
    });
  }

  /**
   * Publishes runs that were inserted as `pending` or `new`. Call it in the transaction of the
   * insert.
   */
  async created(runs: readonly NewRun[]): Promise<void> {
    if (runs.length === 0) return;
    await settleAll([
      this.database.deferToCommit(this.templates.showCreated(shownByTemplates(runs))),
      this.changes.publish(
        runs.map(({ id, type, status, reports_to: reportsTo = null }) => ({
          jobId: id,
          type,
          status,
          reportsTo,
          isNew: true,
        })),
      ),
    ]);
    failPoint('run-created');
    // The caller can change its list before the commit.
    const signals = runs.map(({ id, status }) => [id, { status }] as const);
    const isPending = runs.some(({ status }) => status === 'pending');
    this.database.afterCommit(() => {
      this.signals.announce(signals);
      if (!isPending) return;
      failPoint('run-committed');
      this.queue.wakeScheduler();
    });
  }

  /**
   * Cancels runs (docs/contract/runs.md#cancel): pending runs immediately, running runs when their
   * worker has ended them. Finished runs do not change.
   *
   * @returns the runs that were active and had no cancel request before
   */
  async cancel(ids: readonly number[]): Promise<number[]> {
    return this.database.transaction(async () => {
      // The flag is set first, because this locks the rows: no run can change from waiting to
      // running meanwhile.
      const active = await this.states.requestCancel(ids);
      const unstarted = active.filter(({ status }) => status !== 'running');
      await this.move(
        unstarted.map(({ id }) => id),
        { from: UNSTARTED, to: 'canceled' },
      );
      const running = active.filter(({ status }) => status === 'running').map(({ id }) => id);
      this.database.afterCommit(() => {
        this.signals.requestCancel(running);
        // A run that consists of other runs is ended by the scheduler, not by a worker.
        if (running.length > 0) this.queue.wakeScheduler();
      });
      return active.map(({ id }) => id);
    });
  }

  /**
   * Returns a run that has not started to the queue. Cancels the run instead if that was requested
   * meanwhile: a request is stored only once, and the queue does not check it.
   */
  async requeue(run: RunStep): Promise<void> {
    await this.database.transaction(async () => {
      const where = raw('NOT run.cancel_requested');
      await this.move([run], { from: ['running'], to: 'pending', where });
      await this.move([run], { from: ['running'], to: 'canceled' });
    });
  }

  private async publishMoved(moved: readonly MovedRun[], isReplaced = false): Promise<void> {
    const [first] = moved;
    if (!first) return;
    const { status } = first;
    await settleAll([
      isFinal(status)
        ? this.templates.showEnded(shownByTemplates(moved), isFailed(status))
        : this.templates.showMoved(shownByTemplates(moved)),
      this.changes.publish(
        moved.map(({ id, type, reports_to: reportsTo }) => ({
          jobId: id,
          type,
          status,
          reportsTo,
          isReplaced,
        })),
      ),
    ]);
    this.database.afterCommit(() => {
      this.signals.announce(moved.map(({ id }) => [id, { status }]));
      // A finished run frees capacity, and a pending one needs it.
      if (isFinal(status) || status === 'pending') this.queue.wakeScheduler();
    });
  }
}

/**
 * Returns the runs that change the status of their templates. Of the syncs inside runs, only the successful
 * ones do: a project whose sync failed cannot be launched, although its last revision can still be used.
 */
const shownByTemplates = (runs: readonly NewRun[]): NewRun[] =>
  runs.filter(({ launch_type: type, status }) => type !== 'sync' || status === 'successful');
