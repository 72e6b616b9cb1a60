import type { ColumnValues } from '../../database/rows.js';
import { InjectionError } from '../../credentials/types/injection-plan.js';
import { VariablesError } from '../../common/fields/variables.js';
import { GitError } from '../runner/git-command.js';
import { GitSourceError } from '../../code-hosts/git-source.js';
import { RunnerError } from '../../runs/runner-error.js';
import { TIMED_OUT } from '../../runs/run-explanations.js';

/** How a run ended, and what is stored with its last status. */
export interface Outcome {
  status: 'successful' | 'failed' | 'error' | 'canceled';
  explanation?: string;
  fields?: ColumnValues;
  /** Further rows, written in the transaction of the last status. */
  write?: () => Promise<void>;
}

/** Does the work of one kind of run, under a lease. */
export interface RunKind<Run> {
  run(run: Run): Promise<Outcome>;
}

/**
 * The run cannot start, and the message says why (docs/contract/runs.md#runs-that-cannot-begin).
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

const INTERNAL = 'The run ended because of an internal error; the log of the worker tells more.';

/** What an error before or around a run means for it. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof CannotStart || error instanceof InjectionError) {
    return { status: 'failed', explanation: error.message };
  }
  if (error instanceof GitError) {
    if (error.reason === 'canceled') return { status: 'canceled' };
    const isTimeout = error.reason === 'timeout';
    return { status: 'failed', explanation: isTimeout ? TIMED_OUT : error.message };
  }
  if (isExplained(error)) return { status: 'error', explanation: error.message };
  return { status: 'error', explanation: INTERNAL };
}

/** Whether the message of an error was made for users; anything else belongs in the log. */
export function isExplained(error: unknown): error is Error {
  return [CannotStart, InjectionError, GitError, GitSourceError, RunnerError, VariablesError].some(
    (known) => error instanceof known,
  );
}
