import type { Sql } from '../database/sql.js';

/** Run counts of instances; implemented by the feature `runs`. */
export abstract class RunLoads {
  /**
   * Returns a query for one row over all machines: `consumed_capacity` by the scheduler's count,
   * `jobs_running` and `jobs_total`.
   */
  abstract totals(): Sql;
  /**
   * Returns a query for one row over the runs of a machine: `consumed_capacity`, `jobs_running`, which
   * includes waiting runs, and `jobs_total`.
   */
  abstract onNode(hostname: Sql): Sql;
  /**
   * Returns a query for one row: `consumed_capacity` of machines by the scheduler's count, `jobs_running`
   * and `jobs_total` of a group.
   *
   * @param hostnames SQL array of the group's machines
   */
  abstract inGroup(group: Sql, hostnames: Sql): Sql;
}
