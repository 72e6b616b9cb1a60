import type { Actor } from '../common/access.js';

/** Starts syncs of projects. Runs are the jobs feature's, which implements this. */
export abstract class ProjectSyncs {
  /**
   * Creates one pending update for each project that has a source, in the caller's transaction.
   *
   * @returns ids of the updates; manual projects have none
   */
  abstract start(projectIds: readonly number[], actor: Actor): Promise<number[]>;
}
