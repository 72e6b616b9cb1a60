import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { endBelow, endMarked, KILL_WAIT_MS, markedProcesses } from './orphans.js';
import {
  addDescendants,
  isAlive,
  listProcesses,
  signalProcess,
  type ProcessEntry,
} from './process-table.js';

/** The processes of a run: identifies `ansible-runner` and ends the others. */
export interface RunProcesses {
  /** Returns the process id of `ansible-runner`; undefined before it has started. */
  runner(): Promise<number | undefined>;
  /** Returns the ids of all processes. */
  all(): Promise<number[]>;
  /**
   * Signals the runner, once, and all its descendants; kills the processes that have not ended after
   * the grace period.
   */
  end(graceMs: number): Promise<void>;
  /** Ends the descendants of the runner. */
  endBelowRunner(graceMs: number): Promise<void>;
  /** Kills all processes including the runner. */
  kill(): Promise<void>;
  /** Ends processes that outlive the runner; resolves when all processes have ended. */
  endLeftovers(graceMs: number): Promise<void>;
}

/** Processes without a sandbox, found by the mark in their environment. */
export class MarkedProcesses implements RunProcesses {
  private isSignaled = false;

  constructor(
    private readonly child: ChildProcess,
    private readonly mark: string,
  ) {}

  runner(): Promise<number | undefined> {
    return Promise.resolve(this.child.pid);
  }

  all(): Promise<number[]> {
    return markedProcesses(this.mark);
  }

  async end(graceMs: number): Promise<void> {
    if (!this.isSignaled) this.child.kill('SIGTERM');
    this.isSignaled = true;
    await this.endBelowRunner(graceMs);
  }

  async endBelowRunner(graceMs: number): Promise<void> {
    await endMarked(this.mark, graceMs, this.child.pid);
  }

  async kill(): Promise<void> {
    await endMarked(this.mark, 0);
    this.child.kill('SIGKILL');
  }

  async endLeftovers(graceMs: number): Promise<void> {
    await endMarked(this.mark, graceMs);
  }
}

const POLL_MS = 5;

/**
 * Processes inside a sandbox. All are descendants of the first process of the namespace and end with that
 * process, even if they changed their environment, session or parent.
 */
export class SandboxProcesses implements RunProcesses {
  private isSignaled = false;
  private knownChain: readonly ProcessEntry[] = [];

  /**
   * @param child process that starts the sandbox; the signal `killSignal` immediately ends that process and all
   *   processes inside
   * @param first first process inside; null if nothing was started
   * @param depth number of processes between the first process and the runner
   */
  constructor(
    private readonly child: ChildProcess,
    private readonly first: Promise<ProcessEntry | null>,
    private readonly depth: number,
    private readonly killSignal: NodeJS.Signals,
  ) {}

  async runner(): Promise<number | undefined> {
    return (await this.chain()).at(this.depth + 1)?.pid;
  }

  async all(): Promise<number[]> {
    const first = await this.first;
    if (!first) return [];
    const chosen = new Set([first.pid]);
    addDescendants(await listProcesses(), chosen);
    return [...chosen];
  }

  async end(graceMs: number): Promise<void> {
    const runner = await this.runner();
    if (runner !== undefined && !this.isSignaled) {
      this.isSignaled = true;
      signalProcess(runner, 'SIGTERM');
    }
    await this.endBelowRunner(graceMs);
  }

  async endBelowRunner(graceMs: number): Promise<void> {
    const chain = await this.chain();
    const [first] = chain;
    if (!first || chain.length < this.depth + 2) return;
    await endBelow(
      first,
      graceMs,
      chain.map(({ pid }) => pid),
    );
  }

  kill(): Promise<void> {
    this.child.kill(this.killSignal);
    return Promise.resolve();
  }

  async endLeftovers(): Promise<void> {
    const first = await this.first;
    const limit = Date.now() + KILL_WAIT_MS;
    while (first && Date.now() < limit) {
      // The first process of a namespace ends last: when it is dead, all others are dead, too.
      if (!(await isAlive(first))) return;
      await sleep(POLL_MS);
    }
  }

  /**
   * Returns the first process, the processes in between, and the runner, as far as they have
   * started. Orphaned processes of the run become children of the first process; only its oldest
   * child was started by the first process itself.
   */
  private async chain(): Promise<readonly ProcessEntry[]> {
    const first = await this.first;
    if (!first || this.knownChain.length === this.depth + 2) return this.knownChain;
    const entries = await listProcesses();
    const chain = [first];
    for (let last: ProcessEntry | undefined = first; last && chain.length < this.depth + 2;) {
      const { pid } = last;
      last = oldest(entries.filter(({ parentPid }) => parentPid === pid));
      if (last) chain.push(last);
    }
    this.knownChain = chain;
    return chain;
  }
}

function oldest(entries: readonly ProcessEntry[]): ProcessEntry | undefined {
  return entries.toSorted(
    (left, right) => Number(left.startTime) - Number(right.startTime) || left.pid - right.pid,
  )[0];
}
