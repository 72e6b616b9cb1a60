import type { FieldErrors } from '../common/errors/errors.js';
import type { Prompts } from '../prompts/launch-config.js';

/** A workflow job template that a node of a running workflow job starts. */
export interface NestedLaunch {
  templateId: number;
  /** Prompts of the node under those of the workflow job; what the template does not ask for is ignored. */
  prompts: Prompts;
  /** Variables set whether the template asks for them or not: artifacts, then the workflow job's. */
  extraVars: Readonly<Record<string, unknown>>;
  /** Names among all variables whose values are secret. */
  secretNames: readonly string[];
  /** Null: the outermost workflow job was launched by an event. */
  createdBy: number | null;
  /** The event's delivery, whose variables reach every run below. */
  deliveryId: number | null;
}

/** The workflow job of a nested launch. */
export interface NestedRun {
  id: number;
  /** Why it cannot go on, by field; empty when it can. */
  errors: FieldErrors;
}

/** How the engine starts workflows inside workflows. Implemented by their launch service. */
export abstract class NestedLaunches {
  /**
   * Makes one `pending` workflow job (launch type `workflow`) with its nodes for every request, even
   * for one that cannot go on: the engine ends it with the reason. No permission is asked. In the
   * caller's transaction, in a constant number of statements.
   *
   * @returns in the order of the requests
   */
  abstract launch(requests: readonly NestedLaunch[]): Promise<NestedRun[]>;
}
