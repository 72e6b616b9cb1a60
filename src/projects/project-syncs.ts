import type { Actor } from '../common/access.js';
import type { LaunchWebhook } from '../runs/webhook-run.schema.js';

/** Starts syncs of projects; implemented by the launching module, a later layer. */
export abstract class ProjectSyncs {
  /**
   * Creates one pending update for each project with a source, in the caller's transaction.
   *
   * @returns ids of the updates; manual projects have none
   */
  abstract start(projectIds: readonly number[], actor: Actor): Promise<number[]>;

  /**
   * Creates the pending update that a verified webhook requests, in the caller's transaction.
   *
   * @returns its id; null for a manual project
   */
  abstract startByWebhook(projectId: number, webhook: LaunchWebhook): Promise<number | null>;
}
