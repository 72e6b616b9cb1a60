import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { raw, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { type LaunchType, UnifiedJob } from './unified-job.entity.js';
import { IS_EXECUTED } from './executed-kinds.js';

/** A run with the number of its lease. Updates with an outdated lease number change nothing. */
export interface LeasedRun {
  id: number;
  attempt: number;
  /** Ids of the playbook's hosts, by name; absent for runs without a playbook. */
  readonly hosts?: ReadonlyMap<string, number>;
}

/** A valid lease, with a flag for a run that is to be canceled. */
interface RenewedLease {
  id: number;
  cancel_requested: boolean;
}

/** A run whose lease was taken from its holder. */
export interface StaleRun {
  id: number;
  old_attempt: number;
  attempt: number;
  type: string;
  launch_type: LaunchType;
  /** True if the former holder is a worker on this host. */
  is_local: boolean;
  cancel_requested: boolean;
  has_started: boolean;
}

/** Conditions under which leases are taken over. */
export interface LeaseClaim {
  /** Name of the worker that takes over the leases. */
  holder: string;
  /** Common prefix of the names of all workers on the same host. */
  hostPrefix: string;
  /** Names of workers that are known to be dead. */
  dead: readonly string[];
  /** Ids of runs to ignore: the worker's own. */
  except: readonly number[];
  /** True to take expired leases too. Leases of other hosts are taken `graceSeconds` after expiry. */
  takesExpired: boolean;
  graceSeconds: number;
  leaseSeconds: number;
}

/** Start parameters of a run's playbook, as the API shows them. */
export interface StartedPlaybook {
  args: string;
  cwd: string;
  revision: string;
  /** Name of the run's isolation from the installation and from other runs. */
  isolation: string;
  /** Environment as JSON text. */
  env: string;
}

/** The leases of workers on runs (docs/contract/operations.md#fencing). */
@Injectable()
export class RunLeasesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Renews leases, those of locked rows last: the deletion of a user locks all runs of the user, possibly for
   * minutes, which must not cost other runs their leases.
   *
   * @returns the leases that are still valid, with a flag for runs that are to be canceled
   */
  async renew(runs: readonly LeasedRun[], seconds: number): Promise<RenewedLease[]> {
    const renewed = await this.prolong(runs, seconds, raw('SKIP LOCKED'));
    const ids = new Set(renewed.map(({ id }) => id));
    const others = runs.filter(({ id }) => !ids.has(id));
    return others.length === 0 ? renewed : [...renewed, ...(await this.prolong(others, seconds))];
  }

  private prolong(
    runs: readonly LeasedRun[],
    seconds: number,
    waiting = raw(''),
  ): Promise<RenewedLease[]> {
    return this.database.rows<RenewedLease & Row>(sql`
      WITH valid AS (
        SELECT run.id FROM unified_jobs run
        JOIN unnest(${runs.map(({ id }) => id)}::bigint[], ${runs.map(({ attempt }) => attempt)}::int[])
          AS held(id, attempt) ON held.id = run.id AND held.attempt = run.attempt
        WHERE run.status = 'running' ORDER BY run.id FOR NO KEY UPDATE OF run ${waiting})
      UPDATE unified_jobs run SET lease_until = now() + make_interval(secs => ${seconds})
      FROM valid WHERE run.id = valid.id
      RETURNING run.id, run.cancel_requested`);
  }

  async isWaiting(id: number): Promise<boolean> {
    return this.existsBy({ id, status: 'waiting' });
  }

  async isHeld(run: LeasedRun): Promise<boolean> {
    return this.database.exists(leaseOf(run));
  }

  /**
   * Stores the start parameters of a playbook.
   *
   * @returns false if the lease is gone or the run was canceled
   */
  async begin({ id, attempt }: LeasedRun, started: StartedPlaybook): Promise<boolean> {
    return this.database.affects(sql`
      UPDATE unified_jobs SET job_args = ${started.args}, job_cwd = ${started.cwd},
        reads_results = false,
        scm_revision = ${started.revision}, isolation = ${started.isolation},
        job_env = ${started.env}::json
      WHERE id = ${id} AND attempt = ${attempt} AND status = 'running' AND NOT cancel_requested`);
  }

  /** Stores `reads_results`: the worker is reading the results of the run's program. */
  async storeReadsResults({ id, attempt }: LeasedRun, isReading: boolean): Promise<void> {
    await this.update({ id, attempt }, { reads_results: isReading });
  }

  /** Stores the digest of the image in which a run is executed. */
  async storeEnvironmentDigest({ id, attempt }: LeasedRun, digest: string): Promise<void> {
    await this.update({ id, attempt }, { environment_digest: digest });
  }

  /** Stores the project update that a job created for itself. */
  async storeProjectUpdate({ id, attempt }: LeasedRun, updateId: number): Promise<void> {
    await this.update({ id, attempt }, { project_update_id: updateId });
  }

  /**
   * Takes over the leases of abandoned runs. The new lease number prevents further updates by the
   * former holder, even if that worker is still alive.
   */
  claim(claim: LeaseClaim): Promise<StaleRun[]> {
    const { holder, hostPrefix, dead, except, takesExpired } = claim;
    return this.database.rows<StaleRun>(sql`
      WITH stale AS (
        SELECT id, attempt, starts_with(lease_holder, ${hostPrefix}) AS is_local FROM unified_jobs
        WHERE status = 'running' AND ${IS_EXECUTED}
          AND id <> ALL(${except}::bigint[])
          AND (lease_holder = ANY(${dead}::text[]) OR ${takesExpired} AND lease_until < now()
            - CASE WHEN starts_with(lease_holder, ${hostPrefix}) THEN interval '0'
                ELSE make_interval(secs => ${claim.graceSeconds}) END)
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE unified_jobs run SET attempt = run.attempt + 1, lease_holder = ${holder},
        lease_until = now() + make_interval(secs => ${claim.leaseSeconds})
      FROM stale WHERE run.id = stale.id
      RETURNING run.id, stale.attempt AS old_attempt, run.attempt, run.type, run.launch_type, stale.is_local,
        run.cancel_requested, -- Reading an inventory has no side effects, so it can start again like a project update,
        -- unless its results may have ended the worker that read them.
        coalesce(run.job_args, '') <> '' AND (run.type <> 'inventory_update' OR run.reads_results)
          AS has_started`);
  }

  /** Returns the lease numbers of those runs that are running, by run. */
  async attemptsOfRunning(ids: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.rows<LeasedRun>(sql`
      SELECT id, attempt FROM unified_jobs
      WHERE status = 'running' AND id = ANY(${ids}::bigint[])`);
    return new Map(rows.map(({ id, attempt }) => [id, attempt]));
  }
}

/**
 * Returns a query for a run with a valid lease: `id` and `inventory_id`; no row if the lease is
 * gone.
 */
export const leaseOf = ({ id, attempt }: LeasedRun): Sql => sql`
  SELECT id, inventory_id FROM unified_jobs
  WHERE id = ${id} AND attempt = ${attempt} AND status = 'running'`;

/** Returns a query for assigned runs that no worker has started: `id` and `machine`. */
export const waitingRuns = (): Sql => sql`
  SELECT id, execution_node AS machine FROM unified_jobs
  WHERE status = 'waiting' AND ${IS_EXECUTED}`;
