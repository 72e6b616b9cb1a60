import type { JobStatus } from './unified-job.entity.js';
import { isOneOf } from '../common/records.js';

/** Statuses of an active run, which can be canceled (docs/contract/runs.md#statuses). */
export const ACTIVE_STATUSES = ['new', 'pending', 'waiting', 'running'] as const;
/** Statuses that a run never leaves. */
export const FINAL_STATUSES = ['successful', 'failed', 'error', 'canceled'] as const;
/** Statuses for which the `failed` field is true. */
const FAILED_STATUSES = ['failed', 'error', 'canceled'] as const;

/**
 * Permitted transitions by status. Runs without a process of their own (workflows, approvals)
 * change from `pending` directly to `running` or to a final status; a sync inside a job runs as
 * soon as it is created.
 */
const NEXT: Record<JobStatus, readonly JobStatus[]> = {
  new: ['pending', 'running', 'failed', 'error', 'canceled'],
  pending: ['waiting', 'running', ...FINAL_STATUSES],
  // Back to `pending`: the assigned instance no longer accepts runs.
  waiting: ['pending', 'running', 'failed', 'error', 'canceled'],
  // Back to `pending`: a worker, or the recovery of a lost worker, returns a run that has not started.
  running: ['pending', ...FINAL_STATUSES],
  successful: [],
  failed: [],
  error: [],
  canceled: [],
};

export const isFinal = (status: string): boolean => isOneOf(FINAL_STATUSES, status);

export const isFailed = (status: JobStatus): boolean => isOneOf(FAILED_STATUSES, status);

export const mayMove = (from: JobStatus, to: JobStatus): boolean => NEXT[from].includes(to);

/** @throws Error for a transition that is never permitted: a bug, not a race */
export function assertMoves(from: readonly JobStatus[], to: JobStatus): void {
  const wrong = from.filter((status) => !mayMove(status, to));
  if (wrong.length > 0 || from.length === 0) {
    throw new Error(`A run does not go from ${wrong.join(', ') || 'nowhere'} to ${to}`);
  }
}
