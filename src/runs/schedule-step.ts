/**
 * What the scheduler asks of schedules before each pass, in a transaction of its own. Several workers
 * may ask at once. Implemented by the schedules module.
 */
export abstract class ScheduleStep {
  /** Launches what is due. @returns whether more is left to be done at once */
  abstract launchDue(): Promise<boolean>;
}
