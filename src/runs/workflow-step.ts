/**
 * Step of the scheduler before each pass, in a transaction of its own, which moves runs that
 * consist of other runs forward. Several workers can call it at the same time. Implemented by the
 * workflow engine.
 */
export abstract class WorkflowStep {
  /** @returns true if more work is due at once */
  abstract advance(): Promise<boolean>;

  /** Updates the explanations of workflow jobs that have been pending for a while. */
  abstract explain(): Promise<void>;
}
