/**
 * What the scheduler asks of workflows before each pass, in a transaction of its own: runs that are only made of
 * other runs go on by it. Several workers may ask at once. Implemented by the workflow engine.
 */
export abstract class WorkflowStep {
  /** @returns whether more is left to be done at once */
  abstract advance(): Promise<boolean>;

  /** Says on workflow jobs that have been pending for a while what they wait for. */
  abstract explain(): Promise<void>;
}
