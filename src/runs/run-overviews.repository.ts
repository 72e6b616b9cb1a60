import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import {
  dependentsOf,
  type Dependents,
  type ActiveRunsQuery,
  type RunReference,
} from '../common/resource/dependents.js';
import { ident, or, rowCount, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { RunLoads } from '../instances/run-loads.js';
import type { HostRuns } from '../inventories/inventory-uses.js';
import { UnifiedJob } from './unified-job.entity.js';

/** A run in a short list. */
export interface ListedRun {
  id: number;
  type: string;
  name: string;
  status: string;
  since: string;
  /** Number of all matching runs, including those that are not listed. */
  total: number;
}

/**
 * Limits of a query: number of days, and number of newest rows, so that its cost is independent of
 * the table size.
 */
export interface Lookback {
  days: number;
  newest: number;
}

/** Task counts of a host in a run. */
export interface HostOutcome {
  job_id: number;
  host_name: string;
  ok: number;
  changed: number;
  dark: number;
  failures: number;
  skipped: number;
  processed: number;
  rescued: number;
  ignored: number;
  failed: boolean;
}

const IS_ACTIVE = sql`t.status IN ('new', 'pending', 'waiting', 'running')`;
/** SQL condition for runs that use capacity. A sync is counted as part of its job. */
const USES_CAPACITY = sql`status IN ('waiting', 'running') AND launch_type <> 'sync'`;
const HAS_FAILED = sql`t.status IN ('failed', 'error')`;

/** Overviews of runs of every kind: counts, names and latest runs. */
@Injectable()
export class RunOverviewsRepository
  extends TableRepository<Row>
  implements ActiveRunsQuery, RunLoads, HostRuns
{
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /** Returns runs with all their columns. */
  complete(ids: readonly number[]): Promise<Row[]> {
    return this.database.preparedRows<Row>(
      sql`SELECT * FROM unified_jobs WHERE id = ANY(${ids}::bigint[])`,
    );
  }

  /** Returns the last successful run of the same template before a run, if the caller can read it. */
  async lastSuccess(runId: number, actor: Actor): Promise<number | null> {
    const row = await this.database.row<{ id: number }>(sql`
      SELECT t.id FROM unified_jobs this
      JOIN unified_jobs t ON t.unified_job_template_id = this.unified_job_template_id
        AND t.type = this.type AND t.id < this.id AND t.status = 'successful'
      WHERE this.id = ${runId} AND ${readable(actor)}
      ORDER BY t.id DESC LIMIT 1`);
    return row?.id ?? null;
  }

  /** Returns the task counts of each host in some runs, by host name. */
  hostOutcomes(runs: readonly number[]): Promise<HostOutcome[]> {
    return this.database.preparedRows<HostOutcome>(sql`
      SELECT job_id, host_name, ok, changed, dark, failures, skipped, processed, rescued, ignored,
        failed
      FROM job_host_summaries WHERE job_id = ANY(${runs}::bigint[]) ORDER BY host_name`);
  }

  activeRunsOf(
    references: readonly RunReference[],
    ids: readonly number[],
  ): Promise<Dependents | null> {
    const uses = references.map((name) => sql`${ident('t', name)} = ANY(${ids}::int[])`);
    return dependentsOf(
      this.database,
      sql`SELECT t.id, t.type FROM unified_jobs t WHERE ${IS_ACTIVE} AND ${or(...uses)}`,
    );
  }

  /** Returns the number of active runs by status. */
  countActive(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(sql`
      SELECT t.status AS label, count(*)::int AS value FROM unified_jobs t
      WHERE ${IS_ACTIVE} GROUP BY t.status`);
  }

  totals(): Sql {
    return sql`
      SELECT
        (SELECT coalesce(sum(impact), 0)::int FROM unified_jobs WHERE ${USES_CAPACITY}) AS consumed_capacity,
        (SELECT count(*)::int FROM unified_jobs WHERE status = 'running') AS jobs_running,
        (SELECT count(*)::int FROM unified_jobs WHERE type = 'job') AS jobs_total`;
  }

  onNode(hostname: Sql): Sql {
    return sql`
      SELECT coalesce(sum(impact) FILTER (WHERE ${USES_CAPACITY}), 0)::int AS consumed_capacity,
        count(*) FILTER (WHERE run.status IN ('waiting', 'running'))::int AS jobs_running,
        count(*)::int AS jobs_total
      FROM unified_jobs run
      WHERE run.execution_node = ${hostname} AND run.execution_node <> ''`;
  }

  inGroup(group: Sql, hostnames: Sql): Sql {
    return sql`
      SELECT
        (SELECT coalesce(sum(impact), 0)::int FROM unified_jobs
          WHERE ${USES_CAPACITY} AND execution_node = ANY(${hostnames})) AS consumed_capacity,
        count(*) FILTER (WHERE run.status = 'running')::int AS jobs_running,
        count(*)::int AS jobs_total
      FROM unified_jobs run WHERE run.instance_group_id = ${group}`;
  }

  latestOfHost(host: Sql, actor: Actor, limit: number): Sql {
    return sql`
      SELECT j.id, j.name, j.status, j.finished
      FROM job_host_summaries jhs JOIN unified_jobs j ON j.id = jhs.job_id
      WHERE (jhs.host_id = ${host} OR jhs.constructed_host_id = ${host}) AND ${permit(resource('job').policy, 'read', 'j', actor)}
      ORDER BY jhs.job_id DESC LIMIT ${rowCount(limit)}`;
  }

  /** Returns the latest active runs. */
  active(actor: Actor, limit: number): Promise<ListedRun[]> {
    return this.latest(IS_ACTIVE, sql`coalesce(t.started, t.created)`, actor, limit);
  }

  /** Returns the latest failed runs. */
  failed(actor: Actor, lookback: Lookback, limit: number): Promise<ListedRun[]> {
    const which = sql`${HAS_FAILED} AND ${endedWithin(lookback)}`;
    return this.latest(which, sql`t.finished`, actor, limit);
  }

  /** Returns the latest approvals that wait for a decision of the caller. */
  awaiting(actor: Actor, limit: number): Promise<ListedRun[]> {
    const which = sql`
      t.type = 'workflow_approval' AND t.status = 'pending'
      AND (${permit(resource('workflow_approval').policy, 'approve', 't', actor)})`;
    return this.latest(which, sql`t.created`, actor, limit);
  }

  private latest(condition: Sql, since: Sql, actor: Actor, limit: number): Promise<ListedRun[]> {
    return this.database.rows<ListedRun>(sql`
      SELECT t.id, t.type, t.name, t.status, ${since} AS since, (count(*) OVER ())::int AS total
      FROM unified_jobs t
      WHERE ${condition} AND ${readable(actor)}
      ORDER BY t.id DESC LIMIT ${limit}`);
  }
}

const readable = (actor: Actor): Sql =>
  sql`(${permit(resource('unified_job').policy, 'read', 't', actor)})`;

const endedWithin = ({ days, newest }: Lookback): Sql => sql`
  t.id > (SELECT coalesce(max(id), 0) - ${newest} FROM unified_jobs)
  AND t.finished >= now() - make_interval(days => ${days})`;
