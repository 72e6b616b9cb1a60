import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RunLoads } from './run-loads.js';
import {
  isCheckPending,
  liveNodes,
  nodeErrors,
  nodeState,
  readyMachines,
} from './worker-nodes.repository.js';
import { Instance } from './instance.entity.js';

/** State, capacity and runs of a machine. */
export interface InstanceLoad {
  id: number;
  node_state: string;
  errors: string;
  health_check_pending: boolean;
  capacity: number;
  consumed_capacity: number;
  jobs_running: number;
  jobs_total: number;
}

/** Instance in a graph of all instances. */
export interface InstanceNode {
  id: number;
  hostname: string;
  node_type: string;
  node_state: string;
  enabled: boolean;
}

export interface LiveInstance {
  node: string;
  heartbeat: string;
  version: string;
  ansible_version: string;
  ansible_runner_version: string;
  capacity: number;
}

/** The properties of a machine that its workers report. */
export type Machine = Pick<
  RowOf<Instance>,
  | 'hostname'
  | 'version'
  | 'cpu'
  | 'memory'
  | 'cpu_capacity'
  | 'mem_capacity'
  | 'isolation'
  | 'isolation_detail'
  | 'is_ephemeral'
>;

/** Versions of the programs for runs on a machine; empty if a program is missing. */
export type Programs = Pick<
  RowOf<Instance>,
  'container_engine' | 'ansible_version' | 'ansible_runner_version'
>;

/** Returns the name of a machine, as an SQL value. */
export const instanceHostnameOf = (id: Sql): Sql =>
  sql`(SELECT hostname FROM instances WHERE id = ${id})`;

/**
 * Returns a query for `label` and `value`: each isolation of machines with live workers, and their
 * number.
 */
export const liveIsolations = (): Sql => sql`
  SELECT isolation AS label, count(*)::int AS value FROM instances
  WHERE hostname IN (SELECT hostname FROM (${liveNodes()}) node) GROUP BY isolation`;

/** Assignments for a machine whose programs were checked. */
const CHECKED_PROGRAMS = sql`, container_engine = EXCLUDED.container_engine,
  ansible_version = EXCLUDED.ansible_version,
  ansible_runner_version = EXCLUDED.ansible_runner_version, last_health_check = now()`;

/** Machines with current or former workers. */
@Injectable()
export class InstancesRepository extends TableRepository<RowOf<Instance>> {
  constructor(
    @InjectRepository(Instance) repository: Repository<Instance>,
    private readonly runs: RunLoads,
  ) {
    super(repository);
  }

  /**
   * Stores a heartbeat of a machine, with the machine's current properties.
   *
   * @param programs programs of the machine, if the worker has just checked them; otherwise null
   * @returns the time of the last request for a health check
   */
  async storeHeartbeat(machine: Machine, programs: Programs | null): Promise<string | null> {
    const row = await this.database.row<{ health_check_started: string | null }>(sql`
      INSERT INTO instances AS inst (hostname, version, cpu, memory, cpu_capacity, mem_capacity,
        isolation, isolation_detail, is_ephemeral, container_engine, ansible_version,
        ansible_runner_version, last_health_check)
      VALUES (${machine.hostname}, ${machine.version}, ${machine.cpu}, ${machine.memory},
        ${machine.cpu_capacity}, ${machine.mem_capacity}, ${machine.isolation},
        ${machine.isolation_detail}, ${machine.is_ephemeral}, ${programs?.container_engine ?? ''},
        ${programs?.ansible_version ?? ''}, ${programs?.ansible_runner_version ?? ''},
        CASE WHEN ${programs !== null} THEN now() END)
      ON CONFLICT (hostname) DO UPDATE SET last_seen = now(), version = EXCLUDED.version,
        cpu = EXCLUDED.cpu, memory = EXCLUDED.memory, cpu_capacity = EXCLUDED.cpu_capacity,
        mem_capacity = EXCLUDED.mem_capacity, isolation = EXCLUDED.isolation,
        isolation_detail = EXCLUDED.isolation_detail, is_ephemeral = EXCLUDED.is_ephemeral
        ${programs === null ? sql`` : CHECKED_PROGRAMS}
      RETURNING inst.health_check_started`);
    return existing(row, 'an upsert returns its row').health_check_started;
  }

  /**
   * Removes ephemeral machines without live workers.
   *
   * @param hostname machine whose worker has ended; null for machines without a heartbeat for an hour
   */
  async removeEphemeral(hostname: string | null): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM instances WHERE is_ephemeral
        AND (hostname = ${hostname}
          OR ${hostname}::text IS NULL AND last_seen < now() - interval '1 hour')
        AND hostname NOT IN (SELECT hostname FROM (${liveNodes()}) live)`);
  }

  /**
   * Stores a request for a health check, unless a check is pending. The workers read the request at their
   * next heartbeat.
   *
   * @returns false if a check is pending
   */
  async requestCheck(id: number): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE instances inst SET health_check_started = now()
      WHERE id = ${id} AND NOT ${isCheckPending('inst')}`);
  }

  /** Returns those names that are names of machines. */
  async known(hostnames: readonly string[]): Promise<Set<string>> {
    if (hostnames.length === 0) return new Set();
    const found = await this.database.rows<{ hostname: string }>(
      sql`SELECT hostname FROM instances WHERE hostname = ANY(${hostnames}::text[])`,
    );
    return new Set(found.map(({ hostname }) => hostname));
  }

  /** Returns each isolation of machines with live workers, and the number of these machines. */
  isolations(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(liveIsolations());
  }

  /** Returns the machines with live workers. */
  alive(): Promise<LiveInstance[]> {
    return this.database.rows<LiveInstance>(sql`
      SELECT inst.hostname AS node, inst.last_seen AS heartbeat, inst.version,
        inst.ansible_version, inst.ansible_runner_version, coalesce(ready.capacity, 0) AS capacity
      FROM instances inst LEFT JOIN (${readyMachines()}) ready USING (id)
      WHERE inst.hostname IN (SELECT hostname FROM (${liveNodes()}) live) ORDER BY inst.hostname`);
  }

  /** Returns all instances as nodes of a graph. */
  nodes(): Promise<InstanceNode[]> {
    return this.database.rows<InstanceNode>(sql`
      SELECT id, hostname, 'execution' AS node_type, ${nodeState('inst')} AS node_state, enabled
      FROM instances inst ORDER BY id`);
  }

  loads(ids: readonly number[]): Promise<InstanceLoad[]> {
    return this.database.rows<InstanceLoad>(sql`
      SELECT inst.id, ${nodeState('inst')} AS node_state, ${nodeErrors('inst')} AS errors,
        ${isCheckPending('inst')} AS health_check_pending, coalesce(ready.capacity, 0) AS capacity,
        run.consumed_capacity, run.jobs_running, run.jobs_total
      FROM instances inst LEFT JOIN (${readyMachines()}) ready USING (id)
      CROSS JOIN LATERAL (${this.runs.onNode(sql`inst.hostname`)}) run
      WHERE inst.id = ANY(${ids}::int[])`);
  }
}
