import type { Command, Launch } from '../boundary/command.js';
import type { RunnerEvent } from './events.js';

/**
 * Why a run is ended before its time: `full` is too much in its folder, `memory` more memory than it
 * may have, `error` a fault of the machinery, not of the playbook.
 */
export type EndReason = 'canceled' | 'timeout' | 'full' | 'memory' | 'error';

/** How a run ended. */
export type RunStatus = 'successful' | 'failed' | EndReason;

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
  /** Memory of all its processes; no limit when absent or 0. */
  readonly maxMemoryBytes?: number;
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
