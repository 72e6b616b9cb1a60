import type { Sql } from '../database/sql.js';

/** What instances are shown with of runs, a room above them, which implements it. */
export abstract class RunLoads {
  /**
   * Query for one row over all machines: `consumed_capacity` as the scheduler counts, `jobs_running`
   * and `jobs_total`.
   */
  abstract totals(): Sql;
  /** Query for one row over the runs of a machine: `jobs_running`, those to start included, and `jobs_total`. */
  abstract onNode(hostname: Sql): Sql;
}
