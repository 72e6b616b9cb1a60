import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RunLoads } from './run-loads.js';
import { liveCapacity, liveNodes } from './worker-nodes.repository.js';
import { Instance } from './instance.entity.js';

/** Capacity of a machine's live workers, and number of its runs. */
export interface InstanceLoad {
  id: number;
  /** Capacity; null if no worker is alive. */
  capacity: number | null;
  enabled: boolean;
  isolation_detail: string;
  jobs_running: number;
  jobs_total: number;
}

/** The properties of a machine that its workers report. */
export type Machine = Pick<
  RowOf<Instance>,
  'hostname' | 'version' | 'cpu' | 'memory' | 'isolation' | 'isolation_detail'
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

/** Machines with present or past workers. */
@Injectable()
export class InstancesRepository extends TableRepository<RowOf<Instance>> {
  constructor(
    @InjectRepository(Instance) repository: Repository<Instance>,
    private readonly runs: RunLoads,
  ) {
    super(repository);
  }

  /** Stores that a machine has a live worker, with the machine's present properties. */
  async noteAlive(machine: Machine): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO instances (hostname, version, cpu, memory, isolation, isolation_detail)
      VALUES (${machine.hostname}, ${machine.version}, ${machine.cpu}, ${machine.memory},
        ${machine.isolation}, ${machine.isolation_detail})
      ON CONFLICT (hostname) DO UPDATE SET last_seen = now(), version = EXCLUDED.version,
        cpu = EXCLUDED.cpu, memory = EXCLUDED.memory, isolation = EXCLUDED.isolation,
        isolation_detail = EXCLUDED.isolation_detail`);
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

  loads(ids: readonly number[]): Promise<InstanceLoad[]> {
    return this.database.rows<InstanceLoad>(sql`
      SELECT one.id, one.isolation_detail, one.enabled, run.jobs_running, run.jobs_total,
        ${liveCapacity(sql`one.hostname`)} AS capacity
      FROM instances one CROSS JOIN LATERAL (${this.runs.onNode(sql`one.hostname`)}) run
      WHERE one.id = ANY(${ids}::int[])`);
  }
}
