import type { Actor } from '../common/access.js';
import type { LaunchWebhook } from '../runs/webhook-run.schema.js';

/** Starts syncs of projects. Implemented by the room that launches, further down in their order. */
export abstract class ProjectSyncs {
  /**
   * Creates one pending update for each project that has a source, in the caller's transaction.
   *
   * @returns ids of the updates; manual projects have none
   */
  abstract start(projectIds: readonly number[], actor: Actor): Promise<number[]>;

  /**
   * Creates the pending update that a verified webhook asks for, in the caller's transaction.
   *
   * @returns its id; null for a manual project
   */
  abstract startByWebhook(projectId: number, webhook: LaunchWebhook): Promise<number | null>;
}
