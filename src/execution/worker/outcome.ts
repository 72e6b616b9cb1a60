import { UnsealError } from '../../common/crypto/secret-box.js';
import type { ColumnValues } from '../../database/rows.js';
import { LookupError } from '../../credentials/external/lookup-error.js';
import { InjectionError } from '../../credentials/types/injection-plan.js';
import { messageOf } from '../../common/errors/errors.js';
import { ImportError } from '../../inventories/import/delivery.js';
import { HostLimitExceeded } from '../../inventories/import/inventory-import.service.js';
import { VariablesError } from '../../common/fields/variables.js';
import { ContentError } from '../runner/galaxy-install.js';
import { GitError } from '../runner/git-command.js';
import { GitSourceError } from '../../code-hosts/git-source.js';
import { RunnerError } from '../../runs/runner-error.js';
import { SHUT_DOWN, TIMED_OUT } from '../../runs/run-explanations.js';
import { RunEnded, type ActiveRun } from './active-runs.service.js';

/** The outcome of a run, with the data that is stored together with its last status. */
export interface RunOutcome {
  status: 'successful' | 'failed' | 'error' | 'canceled';
  explanation?: string;
  fields?: ColumnValues;
  /**
   * Finishes the work in the transaction of the last status, before the status is written. The work
   * can take long. If the function throws an explained error, the run ends with that error.
   *
   * @returns further columns
   */
  complete?: () => Promise<ColumnValues>;
  /** Writes further rows in the transaction of the last status. */
  write?: () => Promise<void>;
}

/** Executes one kind of run, under a lease. */
export interface RunKind {
  /** True if `run` pulls the image of the execution environment itself, when it needs the image. */
  readonly usesEnvironmentLater?: boolean;
  /** True if the runs execute nothing that users wrote, so that they need no sandbox. */
  readonly isTrusted?: true;
  run(run: ActiveRun): Promise<RunOutcome>;
}

/**
 * Failure to start a run; the message is shown to users
 * (docs/contract/runs.md#runs-that-cannot-begin).
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';

  /** @param status end of the run; `canceled` if an update that the run needs was canceled */
  constructor(
    message: string,
    readonly status: 'failed' | 'canceled' = 'failed',
  ) {
    super(message);
  }
}

/** Failure of a run; the message is shown to users. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
}

const INTERNAL = 'The run ended because of an internal error. See the log of the worker.';

const FAILURES = [CannotStart, RunFailed, InjectionError];

/** Returns the outcome of a run that an error ended. */
export function outcomeOf(error: unknown): RunOutcome {
  if (error instanceof RunEnded) return { status: 'canceled' };
  if (error instanceof HostLimitExceeded) {
    const fields = { org_host_limit_error: true };
    return { status: 'error', explanation: error.message, fields };
  }
  if (FAILURES.some((known) => error instanceof known)) {
    const status = error instanceof CannotStart ? error.status : 'failed';
    return { status, explanation: messageOf(error) };
  }
  if (error instanceof GitError || error instanceof ContentError) {
    if (error.reason === 'canceled') return { status: 'canceled' };
    const isTimeout = error.reason === 'timeout';
    return { status: 'failed', explanation: isTimeout ? TIMED_OUT : error.message };
  }
  if (isExplained(error)) return { status: 'error', explanation: error.message };
  return { status: 'error', explanation: INTERNAL };
}

/**
 * Replaces the outcome of a run that a violation or the worker's shutdown ended: the run failed, and no user
 * canceled it.
 */
export function finalOutcome(
  { reason, failure }: Pick<ActiveRun, 'reason' | 'failure'>,
  outcome: RunOutcome,
): RunOutcome {
  const explanation = reason === 'shutdown' ? SHUT_DOWN : failure;
  if (explanation === '' || outcome.status === 'successful') return outcome;
  return { ...outcome, status: 'failed', explanation };
}

/**
 * Returns true if the message of an error is written for users; other messages only go to the log.
 */
export function isExplained(error: unknown): error is Error {
  const known = [...FAILURES, GitError, ContentError, GitSourceError, RunnerError, ImportError];
  return [...known, LookupError, UnsealError, VariablesError].some((kind) => error instanceof kind);
}
