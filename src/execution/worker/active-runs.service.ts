import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { CANCEL_CHANNEL } from '../../runs/run-signals.service.js';
import { EventAllowance } from './event-allowance.js';
import { Subscriber } from './subscriber.service.js';

/** How long a lease holds, in seconds; renewed four times as often. */
export const LEASE_SECONDS = 60;
/** A run that never gets to its beginning is not begun again for ever. */
export const MAX_ATTEMPTS = 5;
const RENEW_MS = 15_000;
const RENEW_AGAIN_MS = 1000;

/**
 * Why a run is ended before its time: somebody wants it, the lease is gone, the worker leaves, it did
 * what it may not.
 */
export type EndReason = 'cancel' | 'lost' | 'shutdown' | 'failed';

/** A run under a lease of this process. */
export class ActiveRun {
  private readonly controller = new AbortController();
  private endReason: EndReason | null = null;
  private explanation = '';
  /** Counts what it tells. */
  readonly events = new EventAllowance();
  /** The playbook was started: from here on nobody may run it again. */
  hasStarted = false;
  /** Ids of the hosts a playbook is run on, by name, as they were when it began. */
  hosts: ReadonlyMap<string, number> = new Map();
  /** Of a constructed inventory, the hosts these come from, by their ids; null of any other. */
  originals: ReadonlyMap<number, number | null> | null = null;

  constructor(
    readonly id: number,
    readonly attempt: number,
  ) {}

  get reason(): EndReason | null {
    return this.endReason;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** What it did that it may not; empty of others. */
  get failure(): string {
    return this.endReason === 'failed' ? this.explanation : '';
  }

  /** Ends the run for what it did. */
  fail(explanation: string): void {
    this.explanation ||= explanation;
    this.end('failed');
  }

  /** Ends what the run is doing. A lost lease outweighs other reasons: nothing may be written then. */
  end(reason: EndReason): void {
    if (this.endReason === null || reason === 'lost') this.endReason = reason;
    this.controller.abort();
  }
}

/** Thrown where a run notices that it was told to end. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** The runs of this process: keeps their leases alive and hears who wants them ended. */
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

  /** Whether the worker is on its way out and takes nothing more. */
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

  /** Ends everything because the worker leaves. */
  stop(): void {
    this.stopping = true;
    for (const run of this.runs.values()) run.end('shutdown');
  }

  /** Renews all leases in one statement; a run whose lease is gone is ended. */
  async renew(): Promise<void> {
    const asked = [...this.runs.values()];
    if (asked.length === 0) return;
    const rows = await this.leases.renew(asked, LEASE_SECONDS);
    const held = new Map(rows.map((row) => [row.id, row]));
    for (const run of asked) {
      const row = held.get(run.id);
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
  try {
    const ids: unknown = JSON.parse(message);
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [];
  } catch {
    return [];
  }
}
