import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchFolder } from './folder-watch.js';
import { type Launch, directLaunch } from '../sandbox/command.js';
import { sandboxPid } from '../sandbox/sandbox-pid.js';
import { startProcess } from '../sandbox/start-process.js';
import { removeBelow } from './untrusted-files.js';
import { watchMemory } from './memory-watch.js';
import type { PreparedRun } from './ansible-run.js';
import { findProcess, type ProcessEntry, listProcesses } from './process-table.js';
import { readRunnerStatus } from './run-artifacts.js';
import { writeRunMark } from './run-mark.js';
import type { EndReason, RunHandle, RunOptions, RunResult } from './run-options.js';
import { type RunChild, RunnerOutput } from './run-output.js';
import { SandboxProcesses, MarkedProcesses, type RunProcesses } from './run-processes.js';
import { MAX_TIMER_MS } from './shell-limits.js';
import { poll } from './poll.js';

const WATCH_MS = 1_000;

/**
 * Calls `onGone` once when the playbook of a runner has ended while the runner is still alive.
 *
 * @param runner process id of `ansible-runner`, the parent of the playbook's process, once it has
 *   started
 * @param hasStarted returns true if the playbook is known to have started, for example because it
 *   printed output
 * @returns function that stops the watch
 */
function watchPlaybook(
  runner: () => Promise<number | undefined> | undefined,
  hasStarted: () => boolean,
  onGone: () => void,
): () => void {
  let playbookPid: number | undefined;
  return poll(WATCH_MS, async () => {
    // Evaluated before the look-up: a playbook that starts after the look-up must not count as ended.
    const isExpected = playbookPid !== undefined || hasStarted();
    const runnerPid = await runner();
    if (runnerPid === undefined) return false;
    playbookPid ??= (await listProcesses()).find(({ parentPid }) => parentPid === runnerPid)?.pid;
    const playbook = playbookPid === undefined ? null : await findProcess(playbookPid);
    const isAlive = playbook && playbook.state !== 'Z' && playbook.parentPid === runnerPid;
    if (isAlive || !isExpected) return false;
    onGone();
    return true;
  });
}

const KILL_GRACE_MS = 10_000;
/** Grace period of background processes that outlive their run, in ms. */
const LEFTOVER_GRACE_MS = 1_000;
/**
 * Interval in ms between scans for processes of a run that is ending, because the run can still start
 * processes.
 */
const END_POLL_MS = 200;
const IDLE_CHECK_MS = 500;

/**
 * Starts `ansible-runner` for a prepared run, in a session of its own, identifiable by its mark.
 */
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

const hasPipes = (child: ChildProcess): child is RunChild =>
  child.stdout !== null && child.stderr !== null;

class RunProcess {
  private readonly output: RunnerOutput;
  private readonly killGraceMs: number;
  private child: RunChild | null = null;
  private processes: RunProcesses | null = null;
  private endedAs: EndReason | null = null;
  private error: unknown;
  private hasExited = false;
  private recorded: Promise<void> = Promise.resolve();
  private killTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly prepared: PreparedRun,
    private readonly options: RunOptions,
  ) {
    this.killGraceMs = options.killGraceMs ?? KILL_GRACE_MS;
    this.output = new RunnerOutput(
      options,
      () => void this.removeStartFiles(),
      (error) => this.fail(error),
    );
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
      // A time limit can be reached, or the run canceled, while the sandbox is prepared.
      if (this.endedAs !== null) return await this.result(null, null);
      return await this.follow(this.spawn(launch), launch.outOfMemoryCode);
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
    return wrap ? wrap(command) : directLaunch(command);
  }

  private spawn({ file, args, environment, cwd, depth, killSignal }: Launch): RunChild {
    // Started from the main thread, which runs until the worker exits: a sandbox ends with the
    // thread that started it.
    const child = startProcess(file, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', depth === null ? 'ignore' : 'pipe'],
    });
    if (!hasPipes(child)) throw new Error('The runner was started without pipes.');
    this.child = child;
    const { workspace } = this.prepared;
    this.processes =
      depth === null
        ? new MarkedProcesses(child, workspace.mark)
        : new SandboxProcesses(child, this.firstProcess(child), depth, killSignal);
    return child;
  }

  /**
   * Returns the first process inside the sandbox, and records it where a later worker looks for it.
   */
  private async firstProcess(child: RunChild): Promise<ProcessEntry | null> {
    const first = await sandboxPid(child);
    if (first === null) return null;
    await this.record(child, first);
    return findProcess(first);
  }

  /** Records the known processes of the run; writes are sequential. */
  private record({ pid }: RunChild, first?: number): Promise<void> {
    if (pid === undefined) return this.recorded;
    this.recorded = this.recorded
      .then(() => writeRunMark(this.prepared.workspace, pid, first))
      .then(() => undefined)
      .catch((error: unknown) => this.fail(error));
    return this.recorded;
  }

  /**
   * Ends the run early. `ansible-runner` handles SIGTERM only after its playbook has ended, so the
   * playbook is ended, too. Processes that remain after the grace period are killed.
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
    const { timeoutSeconds, idleSeconds } = this.prepared;
    const timers: NodeJS.Timeout[] = [];
    if (timeoutSeconds > 0) {
      const delay = Math.min(timeoutSeconds * 1000, MAX_TIMER_MS);
      timers.push(setTimeout(() => this.end('timeout'), delay));
    }
    if (idleSeconds > 0) {
      const checkIdle = (): void => {
        if (this.output.idleMs >= idleSeconds * 1000) this.end('idle');
      };
      timers.push(setInterval(checkIdle, IDLE_CHECK_MS));
    }
    return timers;
  }

  private async follow(child: RunChild, outOfMemoryCode?: number): Promise<RunResult> {
    this.output.follow(child);
    const ended = exitOf(child);
    await this.record(child);
    const stops = this.watch();
    const [rc, signal] = await ended.finally(() => stops.forEach((stop) => stop()));
    this.hasExited = true;
    if (rc !== null && rc === outOfMemoryCode) this.endedAs ??= 'memory';
    await this.processes?.endLeftovers(LEFTOVER_GRACE_MS);
    await this.output.end(this.prepared.workspace);
    return this.result(rc, signal);
  }

  /** @returns functions that stop the watches */
  private watch(): (() => void)[] {
    const { maxFolderBytes = Infinity, maxMemoryBytes = 0 } = this.options;
    const playbook = watchPlaybook(
      () => this.processes?.runner(),
      () => this.output.hasOutput,
      // Forks that outlive a killed playbook keep the terminal open on which the runner reads.
      () => void this.processes?.endBelowRunner(LEFTOVER_GRACE_MS),
    );
    const folder = watchFolder(this.prepared.workspace.dir, maxFolderBytes, () => this.end('full'));
    if (maxMemoryBytes === 0) return [playbook, folder];
    const list = async (): Promise<number[]> => (await this.processes?.all()) ?? [];
    return [playbook, folder, watchMemory(list, maxMemoryBytes, () => this.endForMemory())];
  }

  /**
   * Kills all processes without a grace period, in which they would use more memory.
   */
  private endForMemory(): void {
    this.end('memory');
    void this.processes?.kill();
  }

  /**
   * Removes the files with keys and passwords, because the runner has already read the files.
   */
  private async removeStartFiles(): Promise<void> {
    const { startFiles, workspace } = this.prepared;
    await Promise.all(startFiles.map((name) => removeBelow(workspace, ['env', name])));
  }

  private fail(error: unknown): void {
    this.error ??= error;
    this.end('error');
  }

  private async result(rc: number | null, signal: NodeJS.Signals | null): Promise<RunResult> {
    const { stderrTail } = this.output;
    const runnerStatus = await readRunnerStatus(this.prepared.workspace, rc, signal);
    // A playbook that finished before the signal reached it has succeeded, despite the request to
    // end.
    const hasSucceeded = runnerStatus === 'successful' && this.endedAs !== 'error';
    const status = hasSucceeded ? runnerStatus : (this.endedAs ?? runnerStatus);
    return { rc, status, stderrTail, ...(this.error === undefined ? {} : { error: this.error }) };
  }
}

function exitOf(child: RunChild): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
}
