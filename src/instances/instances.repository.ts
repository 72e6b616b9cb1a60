import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { RunLoads } from './run-loads.js';
import { liveNodes } from './worker-nodes.repository.js';
import type { InstanceSchema } from './instance.schema.js';

/** What the live workers of a machine can take, and what it has run. */
export interface InstanceLoad {
  id: number;
  /** Null when no worker is alive. */
  capacity: number | null;
  isolation_detail: string;
  jobs_running: number;
  jobs_total: number;
}

/** A machine as a worker on it finds it. */
export type Machine = Pick<
  RowOf<InstanceSchema>,
  'hostname' | 'version' | 'cpu' | 'memory' | 'isolation' | 'isolation_detail'
>;

/** Name of a machine, as a value of a statement. */
export const hostnameOf = (id: Sql): Sql => sql`(SELECT hostname FROM instances WHERE id = ${id})`;

/** `label` and `value`: each isolation that a machine with a live worker has, and how many have it. */
export const liveIsolations = (): Sql => sql`
  SELECT isolation AS label, count(*)::int AS value FROM instances
  WHERE hostname IN (SELECT hostname FROM (${liveNodes()}) node) GROUP BY isolation`;

/** Capacity of the live workers of a machine; null without any. */
const liveCapacity = (hostname: Sql): Sql => sql`
  (SELECT sum(node.capacity)::int FROM (${liveNodes()}) node WHERE node.hostname = ${hostname})`;

/** Text of `errors` for a machine without live workers. */
export const LOST = 'No worker of this machine has been heard of lately.';

/** `node_state` of a row of machines. */
export const nodeState = (alias: string): Sql => sql`
  CASE WHEN ${liveCapacity(ident(alias, 'hostname'))} > 0 THEN 'ready' ELSE 'unavailable' END`;

/** `errors` of a row: a worker that is alive and takes nothing refuses to run without isolation. */
export const nodeErrors = (alias: string): Sql => sql`
  CASE WHEN ${liveCapacity(ident(alias, 'hostname'))} > 0 THEN ''
    WHEN ${liveCapacity(ident(alias, 'hostname'))} IS NULL THEN ${LOST}
    ELSE ${ident(alias, 'isolation_detail')} END`;

/** Machines that have or had workers. */
@Injectable()
export class InstancesRepository extends TableRepository<RowOf<InstanceSchema>> {
  constructor(
    database: Database,
    private readonly runs: RunLoads,
  ) {
    super(database, 'instances');
  }

  /** Says that a machine has a live worker, and what it is like now. */
  async noteAlive(machine: Machine): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO instances (hostname, version, cpu, memory, isolation, isolation_detail)
      VALUES (${machine.hostname}, ${machine.version}, ${machine.cpu}, ${machine.memory},
        ${machine.isolation}, ${machine.isolation_detail})
      ON CONFLICT (hostname) DO UPDATE SET last_seen = now(), version = EXCLUDED.version,
        cpu = EXCLUDED.cpu, memory = EXCLUDED.memory, isolation = EXCLUDED.isolation,
        isolation_detail = EXCLUDED.isolation_detail`);
  }

  /** Which of some names are those of machines. */
  async known(hostnames: readonly string[]): Promise<Set<string>> {
    if (hostnames.length === 0) return new Set();
    const found = await this.database.rows<{ hostname: string }>(
      sql`SELECT hostname FROM instances WHERE hostname = ANY(${hostnames}::text[])`,
    );
    return new Set(found.map(({ hostname }) => hostname));
  }

  /** Each isolation that a machine with a live worker has, and how many have it. */
  isolations(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(liveIsolations());
  }

  loads(ids: readonly number[]): Promise<InstanceLoad[]> {
    return this.database.rows<InstanceLoad>(sql`
      SELECT one.id, one.isolation_detail, run.jobs_running, run.jobs_total,
        ${liveCapacity(sql`one.hostname`)} AS capacity
      FROM instances one CROSS JOIN LATERAL (${this.runs.onNode(sql`one.hostname`)}) run
      WHERE one.id = ANY(${ids}::int[])`);
  }
}
