/** Named places where the fault tests let a process die as if its power had gone. */
export type FailPoint =
  | 'run-created'
  | 'run-committed'
  | 'run-scheduled'
  | 'schedule-launched'
  | 'workflow-advanced'
  | 'run-leased'
  | 'run-prepared'
  | 'inventory-results'
  | 'inventory-storing'
  | 'run-finishing'
  | 'run-finished'
  | 'notification-sent'
  | 'delivery-recorded'
  | 'status-post-sent';

// Not a setting of the product: it is read once, and without it every point is inert.
// eslint-disable-next-line no-restricted-syntax
const ARMED = process.env['FAIL_POINT'] ?? '';

/** Ends the process with SIGKILL when it was started with `FAIL_POINT=<name>`. */
export function failPoint(name: FailPoint): void {
  if (name === ARMED) process.kill(process.pid, 'SIGKILL');
}
