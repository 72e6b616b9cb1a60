import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { EventBatches } from './event-batches.js';
import { EventReader } from './event-reader.js';
import type { RunnerEvent } from './events.js';
import { endMarked } from './orphans.js';
import type { PreparedRun } from './playbook-run.js';
import { watchPlaybook } from './playbook-watch.js';
import { readMissedEvents, readRunnerStatus } from './run-artifacts.js';
import { writeRunMark } from './run-mark.js';

/** How a run ended. `canceled` and `timeout` are ours; `error` is a fault of the machinery, not of the playbook. */
export type RunStatus = 'successful' | 'failed' | 'canceled' | 'timeout' | 'error';

/** The end of a run. */
export interface RunResult {
  /** Exit code of `ansible-runner`; null when it ended by a signal or never started. */
  readonly rc: number | null;
  readonly status: RunStatus;
  /** The last 64 KB it wrote to its error output; tracebacks of the machinery. */
  readonly stderrTail: string;
  /** Why `status` is `error`, where an error of ours is the reason. */
  readonly error?: unknown;
}

/** What the caller decides about a run. */
export interface RunOptions {
  /** Takes a batch of events, in order of their arrival; a refusal ends the run with status `error`. */
  readonly onEvents: (batch: RunnerEvent[]) => Promise<void> | void;
  /** Cancels the run, as {@link RunHandle.cancel}. */
  readonly signal?: AbortSignal;
  /** Defaults: 200 events, 250 ms, 4 batches. */
  readonly batchSize?: number;
  readonly batchDelayMs?: number;
  readonly maxBatchesInFlight?: number;
  /** Time between SIGTERM and SIGKILL; 10 s. */
  readonly killGraceMs?: number;
  /** Default `ansible-runner` from PATH. */
  readonly executable?: string;
}

/** A started run. */
export interface RunHandle {
  readonly pid: number | undefined;
  /** Asks the run to end; wait for the end with `wait()`. Repeated calls change nothing. */
  cancel(): void;
  /** Resolves when all processes have ended and all events were taken; never rejects. */
  wait(): Promise<RunResult>;
}

const STDERR_TAIL_BYTES = 64 * 1024;
const KILL_GRACE_MS = 10_000;
/** Processes that outlive their run (started in the background by a task) get this long. */
const LEFTOVER_GRACE_MS = 1_000;
/** Between two looks for processes of a run that is to end: it may just be starting some. */
const END_POLL_MS = 200;
/** A pipe still held open after every process of the run has ended is given up. */
const PIPE_GRACE_MS = 5_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts `ansible-runner` for a prepared run, in a session of its own, findable by its mark. */
export function startRun(prepared: PreparedRun, options: RunOptions): RunHandle {
  const run = new RunProcess(prepared, options);
  const result = run.start();
  return { pid: run.pid, cancel: () => run.end('canceled'), wait: () => result };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

class RunProcess {
  private readonly reader = new EventReader();
  private readonly batches: EventBatches;
  private readonly killGraceMs: number;
  private child: Child | null = null;
  private endedAs: 'canceled' | 'timeout' | 'error' | null = null;
  private error: unknown;
  private stderr = Buffer.alloc(0);
  private hasOutput = false;
  private hasExited = false;
  private killTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly prepared: PreparedRun,
    private readonly options: RunOptions,
  ) {
    this.killGraceMs = options.killGraceMs ?? KILL_GRACE_MS;
    this.batches = new EventBatches(options.onEvents, {
      maxEvents: options.batchSize ?? 200,
      maxDelayMs: options.batchDelayMs ?? 250,
      maxInFlight: options.maxBatchesInFlight ?? 4,
      onFlow: (mayFlow) => (mayFlow ? this.child?.stdout.resume() : this.child?.stdout.pause()),
      onError: (error) => this.fail(error),
    });
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  async start(): Promise<RunResult> {
    const { signal, executable = 'ansible-runner' } = this.options;
    if (signal?.aborted) return { rc: null, status: 'canceled', stderrTail: '' };
    const abort = (): void => this.end('canceled');
    const timers = this.startTimers();
    try {
      this.child = spawn(executable, this.prepared.args, {
        cwd: this.prepared.workspace.dir,
        env: this.prepared.environment,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      signal?.addEventListener('abort', abort, { once: true });
      return await this.follow(this.child);
    } catch (error) {
      this.fail(error);
      return this.result(null, null);
    } finally {
      for (const timer of timers) clearTimeout(timer);
      clearTimeout(this.killTimer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * SIGTERM tells `ansible-runner` that the run is canceled; it looks up when its playbook has ended, so the
   * playbook is ended, too. What stays is killed.
   */
  end(reason: 'canceled' | 'timeout' | 'error'): void {
    if (this.endedAs || this.hasExited) {
      if (reason === 'error') this.endedAs = reason;
      return;
    }
    this.endedAs = reason;
    this.child?.kill('SIGTERM');
    this.killTimer = setTimeout(() => void this.kill(), this.killGraceMs);
    void this.endPlaybook();
  }

  private async endPlaybook(): Promise<void> {
    while (this.child && !this.hasExited) {
      await endMarked(this.prepared.workspace.mark, this.killGraceMs, this.child.pid);
      await sleep(END_POLL_MS);
    }
  }

  /** Forks that outlive their playbook, which was killed, keep the terminal open on which the runner reads. */
  private endForks(): void {
    void endMarked(this.prepared.workspace.mark, LEFTOVER_GRACE_MS, this.child?.pid);
  }

  private async kill(): Promise<void> {
    await endMarked(this.prepared.workspace.mark, 0);
    this.child?.kill('SIGKILL');
  }

  private startTimers(): NodeJS.Timeout[] {
    const { timeoutSeconds } = this.prepared;
    if (timeoutSeconds <= 0) return [];
    const delay = Math.min(timeoutSeconds * 1000, MAX_TIMER_MS);
    return [setTimeout(() => this.end('timeout'), delay)];
  }

  private async follow(child: Child): Promise<RunResult> {
    child.stdout.on('data', (chunk: Buffer) => this.takeOutput(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.takeStderr(chunk));
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const ended = exitOf(child);
    if (child.pid !== undefined) {
      await writeRunMark(this.prepared.workspace, child.pid).catch((error) => this.fail(error));
    }
    const stopWatch = watchPlaybook(
      child.pid ?? 0,
      () => this.hasOutput,
      () => this.endForks(),
    );
    const [rc, signal] = await ended.finally(stopWatch);
    this.hasExited = true;
    await endMarked(this.prepared.workspace.mark, LEFTOVER_GRACE_MS);
    await this.outputEnd(child, closed);
    this.batches.add(this.reader.end());
    this.batches.add(await readMissedEvents(this.prepared.workspace, this.reader));
    await this.batches.drain();
    return this.result(rc, signal);
  }

  /** Waits for the pipes to run dry, however slowly the events are taken. */
  private async outputEnd(child: Child, closed: Promise<void>): Promise<void> {
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let before = -1; !isClosed;) {
      const timer = new Promise<void>((resolve) => setTimeout(resolve, PIPE_GRACE_MS).unref());
      await Promise.race([closed, timer]);
      const isStuck = before === this.bytesRead && !child.stdout.isPaused();
      if (isStuck) {
        child.stdout.destroy();
        child.stderr.destroy();
        return;
      }
      before = this.bytesRead;
    }
  }

  private bytesRead = 0;

  private takeOutput(chunk: Buffer): void {
    this.bytesRead += chunk.length;
    if (!this.hasOutput) {
      this.hasOutput = true;
      void this.removeStartFiles();
    }
    this.batches.add(this.reader.read(chunk));
  }

  /** Keys and passwords are in the runner's memory by now; on disk they are only a risk. */
  private async removeStartFiles(): Promise<void> {
    await Promise.all(
      this.prepared.startFiles.map((path) => rm(path, { force: true }).catch(() => undefined)),
    );
  }

  private takeStderr(chunk: Buffer): void {
    this.stderr = Buffer.concat([this.stderr, chunk]).subarray(-STDERR_TAIL_BYTES);
  }

  private fail(error: unknown): void {
    this.error ??= error;
    this.end('error');
  }

  private async result(rc: number | null, signal: NodeJS.Signals | null): Promise<RunResult> {
    const stderrTail = this.stderr.toString('utf8');
    const verdict = await readRunnerStatus(this.prepared.workspace, rc, signal);
    // A playbook that was through before the signal reached it has succeeded, whatever was asked of it.
    const isThrough = verdict === 'successful' && this.endedAs !== 'error';
    const status = isThrough ? verdict : (this.endedAs ?? verdict);
    return { rc, status, stderrTail, ...(this.error === undefined ? {} : { error: this.error }) };
  }
}

function exitOf(child: Child): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
}
