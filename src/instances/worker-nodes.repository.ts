import { Injectable } from '@nestjs/common';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RunLoads } from './run-loads.js';
import { NODE_LOST_SECONDS, WorkerNode } from './worker-node.entity.js';

/** The process of a worker: process id and start time identify it on its host. */
export type WorkerProcess = Pick<WorkerNode, 'name' | 'pid' | 'start_time'>;

/** Capacity and usage of machines: both capacities in forks, and numbers of instances and runs. */
export interface InstallationLoad {
  capacity: number;
  instances: number;
  consumed_capacity: number;
  jobs_running: number;
  jobs_total: number;
}

/** Returns a query for the live workers: `hostname` and `capacity`. */
export const liveNodes = (): Sql => sql`
  SELECT hostname, capacity FROM worker_nodes
  WHERE last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS})`;

/**
 * Returns a query for the machines that accept runs: `id`, `hostname`, `slots` (number of concurrent runs
 * of their workers), `capacity` in forks (docs/contract/runs.md#capacity) and `has_engine`.
 */
export const readyMachines = (): Sql => sql`
  SELECT inst.id, inst.hostname, node.slots, inst.container_engine <> '' AS has_engine,
    floor(least(inst.cpu_capacity, inst.mem_capacity)
      + abs(inst.cpu_capacity - inst.mem_capacity) * inst.capacity_adjustment::numeric)::int AS capacity
  FROM instances inst JOIN (
    SELECT hostname, sum(capacity)::int AS slots FROM (${liveNodes()}) live
    GROUP BY hostname HAVING sum(capacity) > 0) node USING (hostname)
  WHERE inst.enabled`;

/** Returns the number of concurrent runs of a machine's live workers, as SQL; null without live workers. */
const liveSlots = (hostname: Sql): Sql => sql`
  (SELECT sum(node.capacity)::int FROM (${liveNodes()}) node WHERE node.hostname = ${hostname})`;

/** Text of `errors` for a machine without live workers. */
const LOST = 'No worker of this machine has sent a heartbeat recently.';

/** Returns `node_state` of a machine, as SQL. */
export const nodeState = (alias: string): Sql => sql`
  CASE WHEN ${liveSlots(ident(alias, 'hostname'))} > 0 THEN 'ready' ELSE 'unavailable' END`;

/**
 * Returns `errors` of a machine, as SQL. A live worker has no capacity if it cannot isolate runs.
 */
export const nodeErrors = (alias: string): Sql => sql`
  CASE WHEN ${liveSlots(ident(alias, 'hostname'))} > 0 THEN ''
    WHEN ${liveSlots(ident(alias, 'hostname'))} IS NULL THEN ${LOST}
    ELSE ${ident(alias, 'isolation_detail')} END`;

/** Returns `health_check_pending` of a machine, as SQL. */
export const isCheckPending = (alias: string): Sql => sql`
  coalesce(${ident(alias, 'health_check_started')}
    > coalesce(${ident(alias, 'last_health_check')}, '-infinity'), false)`;

/** Worker processes. */
@Injectable()
export class WorkerNodesRepository extends TableRepository<WorkerNode> {
  constructor(
    @InjectRepository(WorkerNode) repository: Repository<WorkerNode>,
    private readonly runs: RunLoads,
  ) {
    super(repository);
  }

  /** Stores a heartbeat of a worker, with its number of concurrent runs. */
  async storeHeartbeat(node: Omit<WorkerNode, 'last_seen'>): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
      VALUES (${node.name}, ${node.hostname}, ${node.host_key}, ${node.pid}, ${node.start_time},
        ${node.capacity})
      ON CONFLICT (name) DO UPDATE SET last_seen = now(), capacity = EXCLUDED.capacity`);
  }

  /**
   * Returns the workers of a host, including dead workers that are not deleted yet.
   */
  ofHost(hostKey: string): Promise<WorkerProcess[]> {
    return this.database.rows<WorkerProcess>(sql`
      SELECT name, pid, start_time FROM worker_nodes WHERE host_key = ${hostKey}`);
  }

  /** Deletes workers, and all workers without a heartbeat for ten times `NODE_LOST_SECONDS`. */
  async removeLost(names: readonly string[]): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM worker_nodes WHERE name = ANY(${names}::text[])
        OR last_seen < now() - make_interval(secs => ${NODE_LOST_SECONDS * 10})`);
  }

  /**
   * Returns a query for capacity and usage of instance groups other than the default group: `id` and the
   * columns of `InstallationLoad`.
   */
  loadOfGroups(ids: readonly number[]): Sql {
    return sql`
      SELECT g.id, coalesce(live.capacity, 0)::int AS capacity, members.instances,
        run.consumed_capacity, run.jobs_running, run.jobs_total
      FROM unnest(${ids}::int[]) AS g(id)
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS instances, array_agg(inst.hostname) AS hostnames
        FROM instance_group_instances link JOIN instances inst ON inst.id = link.instance_id
        WHERE link.instance_group_id = g.id) members
      CROSS JOIN LATERAL (
        SELECT sum(ready.capacity) AS capacity FROM (${readyMachines()}) ready
        WHERE ready.hostname = ANY(members.hostnames)) live
      CROSS JOIN LATERAL (${this.runs.inGroup(sql`g.id`, sql`members.hostnames`)}) run`;
  }

  /** Returns capacity and usage of all machines by the scheduler's count. */
  async load(): Promise<InstallationLoad> {
    return this.database.rowOrFail<InstallationLoad>(sql`
      SELECT live.capacity, live.instances, runs.consumed_capacity, runs.jobs_running,
        runs.jobs_total
      FROM (
        SELECT coalesce(sum(ready.capacity), 0)::int AS capacity, count(*)::int AS instances
        FROM (${readyMachines()}) ready) live
      CROSS JOIN (${this.runs.totals()}) runs`);
  }
}
