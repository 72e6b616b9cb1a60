import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { resultOr } from '../../common/errors/errors.js';
import { listOf } from '../../common/records.js';
import { LookupSession } from '../../credentials/external/lookup-session.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { CANCEL_CHANNEL } from '../../runs/run-signals.service.js';
import type { Isolation } from '../sandbox/isolation.js';
import { EventAllowance } from './event-allowance.js';
import { Subscriber } from './subscriber.service.js';

/** Duration of a lease, in seconds; leases are renewed four times in this time. */
export const LEASE_SECONDS = 60;
/**
 * Maximum lease number of a run that is retried. A lost worker uses two numbers: its own lease and the
 * lease of the recovery.
 */
export const MAX_RUN_ATTEMPTS = 5;
const RENEW_MS = 15_000;
const RENEW_AGAIN_MS = 1000;

/**
 * Reason why a run is ended early: a user canceled it, the lease was lost, the worker shuts down,
 * or the run violated a limit.
 */
export type RunEndReason = 'cancel' | 'lost' | 'shutdown' | 'failed';

/** A run under a lease of this process. */
export class ActiveRun {
  private readonly controller = new AbortController();
  private endReason: RunEndReason | null = null;
  private explanation = '';
  /** Limits of the run's events. */
  readonly events = new EventAllowance();
  /** True once the playbook was started: the run must not be executed again. */
  hasStarted = false;
  /** Ids of the hosts of a playbook by name, as of its start. */
  hosts: ReadonlyMap<string, number> = new Map();
  /**
   * For a constructed inventory, the original host of each host, by id; null for other inventories.
   */
  originals: ReadonlyMap<number, number | null> | null = null;
  /** Containers of the run's execution environment; null: the isolation of the worker. */
  isolation: Isolation | null = null;
  /** Logins of the run to secret stores; a sync inside a job uses the logins of the job. */
  lookups: LookupSession;
  /** Last counter and line of the run's output before Ansible starts. */
  position = { counter: 0, line: 0 };

  constructor(
    readonly id: number,
    readonly attempt: number,
  ) {
    this.lookups = new LookupSession(id);
  }

  get reason(): RunEndReason | null {
    return this.endReason;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Explanation of the violation that ended the run; empty otherwise. */
  get failure(): string {
    return this.endReason === 'failed' ? this.explanation : '';
  }

  /** Ends the run because of a violation. */
  fail(explanation: string): void {
    this.explanation ||= explanation;
    this.end('failed');
  }

  /** Ends the run. A lost lease overrides other reasons, because nothing can be written then. */
  end(reason: RunEndReason): void {
    if (this.endReason === null || reason === 'lost') this.endReason = reason;
    this.controller.abort();
  }
}

/** Thrown when a run detects that it must end. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** @throws RunEnded if the run must end */
export function stopIfEnded(run: ActiveRun): void {
  if (run.reason !== null) throw new RunEnded('The run must end.');
}

/** The runs of this process: renews their leases and receives requests to end them. */
@Injectable()
export class ActiveRuns implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Worker');
  private readonly runs = new Map<number, ActiveRun>();
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly leases: RunLeasesRepository,
    private readonly subscriber: Subscriber,
  ) {}

  onApplicationBootstrap(): void {
    this.subscriber.listen(CANCEL_CHANNEL, (message) => {
      for (const id of readIds(message)) this.runs.get(id)?.end('cancel');
    });
    this.schedule(RENEW_MS);
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
  }

  /** True if the worker is shutting down and takes no more runs. */
  get isStopping(): boolean {
    return this.stopping;
  }

  get ids(): number[] {
    return [...this.runs.keys()];
  }

  add(id: number, attempt: number): ActiveRun {
    const run = new ActiveRun(id, attempt);
    this.runs.set(id, run);
    if (this.stopping) run.end('shutdown');
    return run;
  }

  remove(run: ActiveRun): void {
    if (this.runs.get(run.id) === run) this.runs.delete(run.id);
  }

  /** Ends all runs because the worker shuts down. */
  stop(): void {
    this.stopping = true;
    for (const run of this.runs.values()) run.end('shutdown');
  }

  /** Renews all leases in one statement and ends runs whose lease is lost. */
  async renew(): Promise<void> {
    const active = [...this.runs.values()];
    if (active.length === 0) return;
    const rows = await this.leases.renew(active, LEASE_SECONDS);
    const leases = new Map(rows.map((row) => [row.id, row]));
    for (const run of active) {
      const row = leases.get(run.id);
      if (!row) run.end('lost');
      else if (row.cancel_requested) run.end('cancel');
    }
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.renew().then(
        () => this.schedule(RENEW_MS),
        (error: Error) => {
          this.logger.warn({ message: 'leases not renewed', reason: error.message });
          this.schedule(RENEW_AGAIN_MS);
        },
      );
    }, delayMs).unref();
  }
}

function readIds(message: string): number[] {
  const ids = resultOr((): unknown => JSON.parse(message), null);
  return listOf(ids).filter((id) => typeof id === 'number');
}
