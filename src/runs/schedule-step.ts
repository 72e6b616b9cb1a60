/**
 * Step of the scheduler before each pass, in a transaction of its own. Several workers can call it
 * at the same time. Implemented by the schedules module.
 */
export abstract class ScheduleStep {
  /**
   * Launches what is due.
   *
   * @returns true if more is due at once
   */
  abstract launchDue(): Promise<boolean>;
}
