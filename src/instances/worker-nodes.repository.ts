import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { RunLoads } from './run-loads.js';
import { NODE_LOST_SECONDS } from './worker-node-table.js';

export interface WorkerNodeRow {
  name: string;
  hostname: string;
  host_key: string;
  pid: number;
  start_time: string;
  capacity: number;
  last_seen: string;
}

/** What all live workers can take, and what they have. */
export interface InstallationLoad {
  capacity: number;
  instances: number;
  consumed_capacity: number;
  jobs_running: number;
  jobs_total: number;
}

/** Query for the live workers: `hostname` and `capacity`. */
export const liveNodes = (): Sql => sql`
  SELECT hostname, capacity FROM worker_nodes
  WHERE last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS})`;

/** Worker processes that are alive; together they are the capacity of the scheduler. */
@Injectable()
export class WorkerNodesRepository extends TableRepository<WorkerNodeRow> {
  constructor(
    database: Database,
    private readonly runs: RunLoads,
  ) {
    super(database, 'worker_nodes');
  }

  /** Counted as the scheduler counts. */
  async load(): Promise<InstallationLoad> {
    const row = await this.database.row<InstallationLoad>(sql`
      SELECT live.capacity, live.instances, runs.consumed_capacity, runs.jobs_running,
        runs.jobs_total
      FROM (
        SELECT coalesce(sum(node.capacity), 0)::int AS capacity, count(*)::int AS instances
        FROM (${liveNodes()}) node) live
      CROSS JOIN (${this.runs.totals()}) runs`);
    return existing(row, 'an aggregate has a row');
  }
}
