import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { LaunchType } from './unified-job.schema.js';
import { IS_WORKED } from './worked-kinds.js';

/** A run under the number of its lease: what does not name it any more changes nothing. */
export interface HeldRun {
  id: number;
  attempt: number;
  /** Ids of the hosts it plays on, by name; a run of something else has none. */
  readonly hosts?: ReadonlyMap<string, number>;
}

/** What became of a run whose lease was taken from its holder. */
export interface StaleRun {
  id: number;
  old_attempt: number;
  attempt: number;
  launch_type: LaunchType;
  /** Its holder was a worker of this host. */
  is_local: boolean;
  cancel_requested: boolean;
  has_started: boolean;
}

/** Whose leases are taken, and by whom. */
export interface LeaseClaim {
  /** Name of the worker that takes them. */
  holder: string;
  /** Names of workers of its host begin so. */
  hostPrefix: string;
  /** Workers that are known to be dead. */
  dead: readonly string[];
  /** Runs that are left alone: the worker's own. */
  except: readonly number[];
  /** Leases that ran out count too; those of other hosts this many seconds later. */
  judgesByTime: boolean;
  graceSeconds: number;
  leaseSeconds: number;
}

/** How the playbook of a run was started. */
export interface StartedPlaybook {
  args: string;
  cwd: string;
  revision: string;
  /** Name of what keeps it apart from the installation and from other runs. */
  isolation: string;
  /** JSON text. */
  env: string;
}

/** The leases by which workers hold runs (docs/contract/operations.md#fencing). */
@Injectable()
export class RunLeasesRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'unified_jobs');
  }

  /** Renews leases. @returns those that still stand, and whether their runs are to be canceled */
  renew(
    held: readonly HeldRun[],
    seconds: number,
  ): Promise<{ id: number; cancel_requested: boolean }[]> {
    return this.database.rows(sql`
      UPDATE unified_jobs run SET lease_until = now() + make_interval(secs => ${seconds})
      FROM unnest(${held.map(({ id }) => id)}::bigint[], ${held.map(({ attempt }) => attempt)}::int[])
        AS held(id, attempt)
      WHERE run.id = held.id AND run.attempt = held.attempt AND run.status = 'running'
      RETURNING run.id, run.cancel_requested`);
  }

  async isHeld(run: HeldRun): Promise<boolean> {
    return (await this.database.row(heldLease(run))) !== undefined;
  }

  /** Notes how a playbook was started. @returns false when the lease is gone or the run canceled */
  async begin({ id, attempt }: HeldRun, started: StartedPlaybook): Promise<boolean> {
    const changed = await this.database.execute(sql`
      UPDATE unified_jobs SET job_args = ${started.args}, job_cwd = ${started.cwd},
        reads_results = false,
        scm_revision = ${started.revision}, isolation = ${started.isolation},
        job_env = ${started.env}::json
      WHERE id = ${id} AND attempt = ${attempt} AND status = 'running' AND NOT cancel_requested`);
    return changed > 0;
  }

  /** Notes whether the worker reads what the program of a run has left. */
  async noteResults({ id, attempt }: HeldRun, areRead: boolean): Promise<void> {
    await this.update({ id, attempt }, { reads_results: areRead });
  }

  /** Notes the project update that a job made for itself. */
  async noteUpdate({ id, attempt }: HeldRun, updateId: number): Promise<void> {
    await this.update({ id, attempt }, { project_update_id: updateId });
  }

  /**
   * Takes the leases of runs that nobody holds any more. From here on the former holder, should it
   * still be there, can write nothing.
   */
  claim(claim: LeaseClaim): Promise<StaleRun[]> {
    const { holder, hostPrefix, dead, except, judgesByTime } = claim;
    return this.database.rows<StaleRun>(sql`
      WITH stale AS (
        SELECT id, attempt, starts_with(lease_holder, ${hostPrefix}) AS is_local FROM unified_jobs
        WHERE status = 'running' AND ${IS_WORKED}
          AND id <> ALL(${except}::bigint[])
          AND (lease_holder = ANY(${dead}::text[]) OR ${judgesByTime} AND lease_until < now()
            - CASE WHEN starts_with(lease_holder, ${hostPrefix}) THEN interval '0'
                ELSE make_interval(secs => ${claim.graceSeconds}) END)
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE unified_jobs run SET attempt = run.attempt + 1, lease_holder = ${holder},
        lease_until = now() + make_interval(secs => ${claim.leaseSeconds})
      FROM stale WHERE run.id = stale.id
      RETURNING run.id, stale.attempt AS old_attempt, run.attempt, run.launch_type, stale.is_local,
        run.cancel_requested, -- Reading an inventory leaves no traces: it is begun again as an update of a project is,
        -- unless its results may have ended the worker that read them.
        coalesce(run.job_args, '') <> '' AND (run.type <> 'inventory_update' OR run.reads_results)
          AS has_started`);
  }

  /** Lease numbers of those of the runs that are running, by run. */
  async living(ids: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.rows<HeldRun>(sql`
      SELECT id, attempt FROM unified_jobs
      WHERE status = 'running' AND id = ANY(${ids}::bigint[])`);
    return new Map(rows.map(({ id, attempt }) => [id, attempt]));
  }
}

/** Query for a run whose lease stands: `id` and `inventory_id`; no row when it is gone. */
export const heldLease = ({ id, attempt }: HeldRun): Sql => sql`
  SELECT id, inventory_id FROM unified_jobs
  WHERE id = ${id} AND attempt = ${attempt} AND status = 'running'`;

/** Query for the runs that were given to the workers and that none has begun: `id`. */
export const waitingRuns = (): Sql => sql`
  SELECT id FROM unified_jobs
  WHERE status = 'waiting' AND ${IS_WORKED}`;
