import type { PlannedLaunch } from './launch-check.js';

/** How launches of job templates that run in slices become workflow jobs. Implemented by workflows. */
export abstract class SlicedLaunches {
  /**
   * Makes one `pending` workflow job for every plan, with a node for each of its `slices`, in the
   * caller's transaction and a constant number of statements.
   *
   * @returns ids in the order of the plans
   */
  abstract write(plans: readonly PlannedLaunch[]): Promise<number[]>;
}
