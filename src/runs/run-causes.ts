import type { Actor } from '../common/access.js';
import type { Sql } from '../database/sql.js';

/**
 * What runs are shown with of rooms that come later in their order and implement these: workflows,
 * schedules, webhooks. Queries are for statements about runs to join.
 */

/** The nodes that runs stand for in workflow jobs. */
export abstract class RunWorkflows {
  /** Query for `job_id`, the run, and `workflow_job_id`, the workflow job it is in. */
  abstract nodesOfRuns(): Sql;
}

/** The schedules that launch runs. */
export abstract class RunSchedules {
  /** Query for `id` and `name`, and for what decides who may read a schedule. */
  abstract names(): Sql;
}

/** The webhook that caused a run. */
export interface RunDelivery {
  run_id: number;
  event: string;
  guid: string;
  ref: string | null;
  ref_name: string | null;
  head_ref: string | null;
  status_api: string | null;
  /** The payload was asked for, by somebody who may see it. */
  may_see: boolean;
  payload: string | null;
}

/** The deliveries of webhooks that cause runs. */
export abstract class RunDeliveries {
  /**
   * Of those of the runs that have one.
   *
   * @param reader who wants the payloads, which may have 25 MB each; null: nobody
   */
  abstract ofRuns(ids: readonly number[], reader: Actor | null): Promise<RunDelivery[]>;
  /** Query for `id`, and the columns of `RunDelivery` but the run and `may_see`. */
  abstract facts(): Sql;
}
