import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { EventBatches } from './event-batches.js';
import { EventReader } from './event-reader.js';
import type { RunnerEvent } from './events.js';
import { watchFolder } from './folder-watch.js';
import { type Command, type Launch, openLaunch } from '../boundary/command.js';
import { firstInside } from '../boundary/first-inside.js';
import { removeBelow } from './left-files.js';
import type { PreparedRun } from './playbook-run.js';
import { watchPlaybook } from './playbook-watch.js';
import { findProcess, type ProcessEntry } from './process-table.js';
import { readMissedEvents, readRunnerStatus } from './run-artifacts.js';
import { writeRunMark } from './run-mark.js';
import { FencedProcesses, MarkedProcesses, type RunProcesses } from './run-processes.js';

/** How a run ended. `canceled`, `timeout` and `full` (too much in its folder) are ours; `error` is a fault of the machinery, not of the playbook. */
export type RunStatus = 'successful' | 'failed' | EndReason;

/** Why a run is ended before its time. */
type EndReason = 'canceled' | 'timeout' | 'full' | 'error';

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
  /** What the private folder may hold; no limit when absent. */
  readonly maxFolderBytes?: number;
  /** Puts the command inside a boundary; it is started as it is when absent. */
  readonly wrap?: (command: Command) => Promise<Launch>;
}

/** A started run. */
export interface RunHandle {
  /** The process that was started; undefined before. */
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
  return {
    get pid() {
      return run.pid;
    },
    cancel: () => run.end('canceled'),
    wait: () => result,
  };
}

type Child = ChildProcess & { stdout: Readable; stderr: Readable };

const hasPipes = (child: ChildProcess): child is Child =>
  child.stdout !== null && child.stderr !== null;

class RunProcess {
  private readonly reader = new EventReader();
  private readonly batches: EventBatches;
  private readonly killGraceMs: number;
  private child: Child | null = null;
  private processes: RunProcesses | null = null;
  private endedAs: EndReason | null = null;
  private error: unknown;
  private stderr = Buffer.alloc(0);
  private hasOutput = false;
  private hasExited = false;
  private noted: Promise<void> = Promise.resolve();
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
    const { signal } = this.options;
    if (signal?.aborted) return { rc: null, status: 'canceled', stderrTail: '' };
    const abort = (): void => this.end('canceled');
    const timers = this.startTimers();
    try {
      const launch = await this.launch();
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      return await this.follow(this.spawn(launch));
    } catch (error) {
      this.fail(error);
      return this.result(null, null);
    } finally {
      this.hasExited = true;
      for (const timer of timers) clearTimeout(timer);
      clearTimeout(this.killTimer);
      signal?.removeEventListener('abort', abort);
    }
  }

  private async launch(): Promise<Launch> {
    const { executable = 'ansible-runner', wrap } = this.options;
    const { args, environment, workspace } = this.prepared;
    const command = { file: executable, args, environment, cwd: workspace.inside.dir };
    return wrap ? wrap(command) : openLaunch(command);
  }

  private spawn({ file, args, environment, cwd, depth }: Launch): Child {
    // From this thread, which lives as long as the worker: what is inside a boundary ends with it.
    const child = spawn(file, args, {
      ...{ cwd, env: environment, detached: true },
      stdio: ['ignore', 'pipe', 'pipe', depth === null ? 'ignore' : 'pipe'],
    });
    if (!hasPipes(child)) throw new Error('The runner was started without pipes.');
    this.child = child;
    const { workspace } = this.prepared;
    this.processes =
      depth === null
        ? new MarkedProcesses(child, workspace.mark)
        : new FencedProcesses(child, this.firstProcess(child), depth);
    return child;
  }

  /** The first process inside the boundary, which is noted where a later worker looks for it. */
  private async firstProcess(child: Child): Promise<ProcessEntry | null> {
    const first = await firstInside(child);
    if (first === null) return null;
    await this.note(child, first);
    return findProcess(first);
  }

  /** Writes down what is known of the run's processes, one state after the other. */
  private note({ pid }: Child, first?: number): Promise<void> {
    if (pid === undefined) return this.noted;
    this.noted = this.noted
      .then(() => writeRunMark(this.prepared.workspace, pid, first))
      .then(() => undefined)
      .catch((error: unknown) => this.fail(error));
    return this.noted;
  }

  /**
   * SIGTERM tells `ansible-runner` that the run is canceled; it looks up when its playbook has ended, so the
   * playbook is ended, too. What stays is killed.
   */
  end(reason: EndReason): void {
    if (this.endedAs || this.hasExited) {
      if (reason === 'error') this.endedAs = reason;
      return;
    }
    this.endedAs = reason;
    this.killTimer = setTimeout(() => void this.processes?.kill(), this.killGraceMs);
    void this.endPlaybook();
  }

  private async endPlaybook(): Promise<void> {
    while (!this.hasExited) {
      await this.processes?.end(this.killGraceMs);
      await sleep(END_POLL_MS);
    }
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
    await this.note(child);
    const stopWatch = watchPlaybook(
      () => this.processes?.runner(),
      () => this.hasOutput,
      // Forks that outlive their playbook, which was killed, keep the terminal open on which the runner reads.
      () => void this.processes?.endBelowRunner(LEFTOVER_GRACE_MS),
    );
    const { maxFolderBytes = Infinity } = this.options;
    const stopFolderWatch = watchFolder(this.prepared.workspace.dir, maxFolderBytes, () =>
      this.end('full'),
    );
    const [rc, signal] = await ended.finally(stopWatch).finally(stopFolderWatch);
    this.hasExited = true;
    await this.processes?.endLeftovers(LEFTOVER_GRACE_MS);
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
    const { startFiles, workspace } = this.prepared;
    await Promise.all(startFiles.map((name) => removeBelow(workspace.dir, ['env', name])));
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
