import type { Command, Launch } from '../sandbox/command.js';
import type { RunnerEvent } from './events.js';

/**
 * Reason why a run was ended early: `idle` is no output for too long, `full` too much data in its
 * folder, `memory` too much memory, `error` a failure of the worker, not of the playbook.
 */
export type EndReason = 'canceled' | 'timeout' | 'idle' | 'full' | 'memory' | 'error';

/** Final status of a run. */
export type RunStatus = 'successful' | 'failed' | EndReason;

export interface RunResult {
  /** Exit code of `ansible-runner`; null if it ended by a signal or never started. */
  readonly rc: number | null;
  readonly status: RunStatus;
  /** Last 64 KB of the error output, with tracebacks of the runner. */
  readonly stderrTail: string;
  /** Error that caused the status `error`, if it was raised in this program. */
  readonly error?: unknown;
}

/** Options of a run that the caller sets. */
export interface RunOptions {
  /**
   * Receives batches of events in order of arrival; a rejection ends the run with status `error`.
   */
  readonly onEvents: (batch: RunnerEvent[]) => Promise<void> | void;
  /** Signal that cancels the run, like {@link RunHandle.cancel}. */
  readonly signal?: AbortSignal;
  /** Limits of batches; defaults: 200 events, 250 ms, 4 batches. */
  readonly batchSize?: number;
  readonly batchDelayMs?: number;
  readonly maxBatchesInFlight?: number;
  /** Time between SIGTERM and SIGKILL, in ms; default: 10 s. */
  readonly killGraceMs?: number;
  /** Path of the program; default: `ansible-runner` from PATH. */
  readonly executable?: string;
  /** Maximum size of the private folder, in bytes; unlimited if absent. */
  readonly maxFolderBytes?: number;
  /** Maximum memory of all processes, in bytes; unlimited if absent or 0. */
  readonly maxMemoryBytes?: number;
  /** Wraps the command in a sandbox; if absent, the command starts without a sandbox. */
  readonly wrap?: (command: Command) => Promise<Launch>;
}

export interface RunHandle {
  /** Process id; undefined before the start. */
  readonly pid: number | undefined;
  /**
   * Requests the end of the run; `wait()` resolves when the run has ended. Repeated calls have no
   * effect.
   */
  cancel(): void;
  /** Resolves when all processes have ended and all events were processed; never rejects. */
  wait(): Promise<RunResult>;
}
