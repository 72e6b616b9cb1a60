/** Named points at which fault tests kill a process as in a power failure. */
export type FailPoint =
  | 'run-created'
  | 'run-committed'
  | 'run-scheduled'
  | 'schedule-launched'
  | 'workflow-advanced'
  | 'run-leased'
  | 'run-prepared'
  | 'system-job-batch'
  | 'inventory-results'
  | 'inventory-storing'
  | 'run-finishing'
  | 'run-finished'
  | 'activity-sent'
  | 'notification-sent'
  | 'delivery-recorded'
  | 'status-post-sent';

// Not a setting of the product. Read once; without the variable every point is inactive.
// eslint-disable-next-line no-restricted-syntax
const ARMED = process.env['FAIL_POINT'] ?? '';

/** Kills the process with SIGKILL if it was started with `FAIL_POINT=<name>`. */
export function failPoint(name: FailPoint): void {
  if (name === ARMED) process.kill(process.pid, 'SIGKILL');
}
