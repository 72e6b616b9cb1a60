import type { HostSummary } from '../../runs/events/job-host-summaries.repository.js';

/**
 * Statuses in ascending order of precedence: the last match counts
 * (docs/contract/runs.md#host-summaries).
 */
const STATUSES = ['skipped', 'ok', 'changed', 'failures', 'dark'] as const;

/**
 * Returns the number of hosts by status. Each host counts once; statuses without a host are left
 * out.
 */
export function hostStatusCounts(summaries: Iterable<HostSummary>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const summary of summaries) {
    const status = STATUSES.findLast((name) => summary[name] > 0);
    if (status) counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
