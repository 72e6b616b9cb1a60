import type { DeliveredEvent } from '../code-hosts/variables.js';
import type { Actor } from '../common/access.js';
import type { Sql } from '../database/sql.js';

/**
 * Abstract classes for data of runs that belongs to later features (workflows, schedules, webhooks).
 * These features implement the classes. The queries are for joins in statements about runs.
 */

export abstract class RunWorkflows {
  /** Returns a query for `id`, `job_id`, the run, and `workflow_job_id`, its workflow job. */
  abstract nodesOfRuns(): Sql;
}

/** The schedules that launch runs. */
export abstract class RunSchedules {
  /**
   * Returns a query for `id` and `name`, and for the columns that determine who can read a
   * schedule.
   */
  abstract names(): Sql;
}

/** The webhook delivery that caused a run. */
export interface RunDelivery extends Required<DeliveredEvent> {
  run_id: number;
  /** Name of the user at the code host who caused the event. */
  sender: string | null;
  /** True if the payload was requested by a user with permission to see it. */
  may_see: boolean;
}

/** The webhook deliveries that cause runs. */
export abstract class RunDeliveries {
  /**
   * Returns the deliveries of those runs that have one.
   *
   * @param reader user who requests the payloads, which can have 25 MB each; null: no payloads
   */
  abstract ofRuns(ids: readonly number[], reader: Actor | null): Promise<RunDelivery[]>;
  /** Returns a query for `id` and the columns of `RunDelivery` except the run and `may_see`. */
  abstract facts(): Sql;
}
