import type { Sql } from '../database/sql.js';

/** Run counts of instances; implemented by the runs module, a higher layer. */
export abstract class RunLoads {
  /**
   * Returns a query for one row over all machines: `consumed_capacity` by the scheduler's count,
   * `jobs_running` and `jobs_total`.
   */
  abstract totals(): Sql;
  /**
   * Returns a query for one row over the runs of a machine: `jobs_running`, which includes waiting
   * runs, and `jobs_total`.
   */
  abstract onNode(hostname: Sql): Sql;
}
