import { Injectable, Logger } from '@nestjs/common';
import { memberOf } from '../../common/records.js';
import { failPoint } from '../../common/fail-point.js';
import { Settings } from '../../config/settings.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import {
  endedWithoutFailure,
  TIMED_OUT,
  tooMuchMemory,
  folderTooLarge,
  timedOutIdle,
} from '../../runs/run-explanations.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { sandboxOfRun } from '../sandbox/run-sandbox.js';
import type { PreparedRun } from '../runner/ansible-run.js';
import type { Masker } from '../runner/masker.js';
import type { RunResult } from '../runner/run-options.js';
import { startRun } from '../runner/run-process.js';
import { BoundedText } from '../runner/bounded-text.js';
import { createWorkspace, removeDirectory, type Workspace } from '../runner/workspace.js';
import { RunEnded, stopIfEnded, type ActiveRun } from './active-runs.service.js';
import { EventStore } from './event-store.service.js';
import { isExplained, type RunOutcome } from './outcome.js';
import { retryOutage } from './outage-retry.js';
import { PlaybookEvents, type RowOfEvent } from './playbook-events.js';
import { RunOutput } from './run-output.js';
import { WorkerNode } from './worker-node.service.js';

/** Maximum length of the stored output of a preparation, in characters. */
const MAX_PREPARATION_OUTPUT = 1024 * 1024;
/**
 * Grace period of a run's child processes, in ms; short enough for the worker to shut down in time.
 */
const KILL_GRACE_MS = 8000;

/** A run of Ansible that is ready to start. */
export interface Preparation {
  prepared: PreparedRun;
  /** Masks all secrets of the run. */
  masker: Masker;
  /** Commit of the project; empty without a project revision. */
  revision: string;
  /** Folders outside the run's own folder that the run reads. */
  shared: readonly string[];
  /** Creates the rows of events; default: rows of a playbook. */
  rowOf?: RowOfEvent;
}

/**
 * A run whose process has ended. The folder still exists, and the last events are not stored yet.
 */
export interface EndedProcess<Prepared extends Preparation = Preparation> {
  result: RunResult;
  events: PlaybookEvents;
  preparation: Prepared;
}

/**
 * Runs Ansible under a lease and inside the sandbox, from the creation of the folder to the last
 * event.
 */
@Injectable()
export class AnsibleProcess {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly settings: Settings,
    private readonly leases: RunLeasesRepository,
    private readonly events: EventStore,
    private readonly node: WorkerNode,
    private readonly sandbox: SandboxService,
  ) {}

  /**
   * @param prepare fills the private folder of the run, which is removed when this method returns.
   *   The output of the preparation is stored only if the preparation fails, because the numbers of
   *   Ansible's events start at the first event
   * @param evaluate derives the result from the end of the process
   */
  async run<Prepared extends Preparation, Outcome>(
    run: ActiveRun,
    prepare: (workspace: Workspace, onOutput: (text: string) => void) => Promise<Prepared>,
    evaluate: (ended: EndedProcess<Prepared>) => Promise<Outcome>,
  ): Promise<Outcome> {
    return this.withWorkspace(run, async (workspace) => {
      const preparation = await this.prepared(run, (onOutput) => prepare(workspace, onOutput));
      failPoint('run-prepared');
      await this.storeStart(run, preparation.prepared, preparation);
      // The playbook may have run, so the run must not be repeated.
      run.hasStarted = true;
      return evaluate({ ...(await this.execute(run, preparation)), preparation });
    });
  }

  /** Calls `work` with the private folder of the run, which is removed when `work` ends. */
  async withWorkspace<Result>(
    run: ActiveRun,
    work: (workspace: Workspace) => Promise<Result>,
  ): Promise<Result> {
    const innerDir = await this.sandbox.innerDir(run.isolation);
    const workspace = await createWorkspace(this.node.workspaces, run.id, run.attempt, innerDir);
    try {
      return await work(workspace);
    } finally {
      await removeDirectory(workspace.root).catch((error: Error) => {
        this.logger.warn({ message: 'folder left', run: run.id, reason: error.message });
      });
    }
  }

  /**
   * Stores the start parameters of Ansible, and checks the lease for the last time. If these columns are
   * set, Ansible may have run.
   *
   * @throws RunEnded if the run must end, for example because it was canceled or its lease is gone
   */
  async storeStart(
    run: ActiveRun,
    { jobArgs, jobCwd, jobEnv }: Pick<PreparedRun, 'jobArgs' | 'jobCwd' | 'jobEnv'>,
    { masker, revision }: Pick<Preparation, 'masker' | 'revision'>,
  ): Promise<void> {
    stopIfEnded(run);
    const { mode } = run.isolation ?? (await this.sandbox.isolation());
    const started = {
      args: masker.text(jobArgs),
      cwd: jobCwd,
      revision,
      isolation: mode,
      env: JSON.stringify(masker.value(jobEnv)),
    };
    const hasBegun = await retryOutage(
      () => this.leases.begin(run, started),
      () => run.reason === null,
    );
    if (!hasBegun) run.end((await this.leases.isHeld(run)) ? 'cancel' : 'lost');
    stopIfEnded(run);
  }

  /**
   * Stores the last events.
   *
   * @returns outcome of the run
   */
  async conclude(run: ActiveRun, ended: EndedProcess): Promise<RunOutcome> {
    const { result, events, preparation } = ended;
    if (result.error instanceof RunEnded) run.end('lost');
    else await this.lastEvents(run, events);
    return {
      ...this.outcomeOf(run, ended),
      ...(result.status === 'error'
        ? { fields: { result_traceback: preparation.masker.text(result.stderrTail) } }
        : {}),
    };
  }

  private async prepared<Prepared>(
    run: ActiveRun,
    prepare: (onOutput: (text: string) => void) => Promise<Prepared>,
  ): Promise<Prepared> {
    const printed = new BoundedText(MAX_PREPARATION_OUTPUT);
    try {
      return await prepare((text) => printed.add(text));
    } catch (error) {
      if (isExplained(error) && printed.text !== '') {
        const output = new RunOutput(this.events, run, run.position);
        output.add(printed.text);
        await output.end();
      }
      throw error;
    }
  }

  private async execute(
    run: ActiveRun,
    preparation: Preparation,
  ): Promise<Omit<EndedProcess, 'preparation'>> {
    const { prepared, masker, shared, rowOf } = preparation;
    const events = new PlaybookEvents(this.events, run, masker, rowOf);
    const hasNetwork = this.settings.JOB_NETWORK !== 'none';
    const spec = await sandboxOfRun(prepared.workspace, shared, hasNetwork);
    const handle = startRun(prepared, {
      wrap: (command) => this.sandbox.wrap(command, spec, run.isolation),
      onEvents: (batch) => events.take(batch),
      signal: run.signal,
      killGraceMs: KILL_GRACE_MS,
      maxFolderBytes: this.settings.JOB_DISK_BYTES,
      maxMemoryBytes: this.settings.JOB_MEMORY_BYTES,
    });
    return { result: await handle.wait(), events };
  }

  private async lastEvents(run: ActiveRun, events: PlaybookEvents): Promise<void> {
    try {
      await events.finish();
    } catch (error) {
      if (error instanceof RunEnded) run.end('lost');
      throw error;
    }
  }

  private outcomeOf(run: ActiveRun, { result, events, preparation }: EndedProcess): RunOutcome {
    switch (result.status) {
      case 'failed':
        return {
          status: 'failed',
          explanation: events.hasFailure() ? '' : endedWithoutFailure(result.rc),
        };
      case 'successful':
      case 'canceled':
        return { status: result.status };
      case 'timeout':
        return { status: 'failed', explanation: TIMED_OUT };
      case 'idle':
        return { status: 'failed', explanation: timedOutIdle(preparation.prepared.idleSeconds) };
      case 'full':
        return { status: 'failed', explanation: folderTooLarge(this.settings.JOB_DISK_BYTES) };
      case 'memory':
        return { status: 'failed', explanation: tooMuchMemory(this.settings.JOB_MEMORY_BYTES) };
      default: {
        const { error } = result;
        const reason = error instanceof Error ? error.message : 'see the traceback';
        const masked = preparation.masker.text(reason);
        this.logger.error({ message: 'runner failed', run: run.id, reason: masked });
        return { status: 'error', explanation: explanationOf(error) };
      }
    }
  }
}

function explanationOf(error: unknown): string {
  const code = memberOf(error, 'code');
  if (code === 'ENOENT') return 'ansible-runner is not installed on this worker.';
  return 'Ansible could not be run because of an internal error. See the log of the worker.';
}
