import { Injectable } from '@nestjs/common';
import type { RowOf } from '../../common/resource/define-resource.js';
import { sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import {
  allHosts,
  constructedOf,
  hideLastJobs,
  lockInventoriesOf,
  showLastJob,
} from '../../inventories/hosts.repository.js';
import { JobHostSummary } from './job-host-summary.entity.js';
import { hasStatistics } from './job-events.repository.js';

/** Task counts of one host in a run (`dark`: the host was unreachable), and a flag for failures. */
export type HostSummary = Readonly<
  Pick<
    RowOf<JobHostSummary>,
    | 'changed'
    | 'dark'
    | 'failures'
    | 'ok'
    | 'processed'
    | 'skipped'
    | 'ignored'
    | 'rescued'
    | 'failed'
  >
>;

/** The hosts of a run as of its start. */
export interface HostsOfRun {
  /** Ids of hosts by name. */
  hosts: ReadonlyMap<string, number>;
  /**
   * For a constructed inventory, the original host of each host, by id; null for other inventories.
   */
  originals: ReadonlyMap<number, number | null> | null;
}

/** Task counts of one host in a run. */
export interface RunHost {
  host_name: string;
  host_id: number | null;
  ok: number;
  changed: number;
  failures: number;
  dark: number;
  skipped: number;
  total: number;
}

export interface HostCounts {
  all: number;
  failed: number;
  /** True if the run produced its final statistics. */
  stats: boolean;
}

/** Maximum number of hosts per statement, so that each ends within STATEMENT_TIMEOUT_MS. */
const MAX_HOSTS = 5000;

@Injectable()
export class JobHostSummariesRepository extends TableRepository<RowOf<JobHostSummary>> {
  constructor(@InjectRepository(JobHostSummary) repository: Repository<JobHostSummary>) {
    super(repository);
  }

  /**
   * Stores the task counts of each host by its name, links them to existing hosts, and updates the
   * last job of these hosts. Takes two statements for each `MAX_HOSTS` hosts.
   */
  async store(
    runId: number,
    summaries: ReadonlyMap<string, HostSummary>,
    { hosts, originals }: HostsOfRun,
  ): Promise<void> {
    const rows = [...summaries].map(([name, counts]) => ({
      job_id: runId,
      host_name: name,
      ...counts,
    }));
    for (let start = 0; start < rows.length; start += MAX_HOSTS) {
      const insert = this.insertion(rows.slice(start, start + MAX_HOSTS));
      await this.database.execute(sql`${insert} ON CONFLICT (job_id, host_name) DO NOTHING`);
    }
    const originalOf = (id: number): number => originals?.get(id) ?? id;
    const touched = [...hosts]
      .filter(([name]) => summaries.has(name))
      .sort(([, left], [, right]) => originalOf(left) - originalOf(right));
    for (let start = 0; start < touched.length; start += MAX_HOSTS) {
      await this.updateHosts(runId, touched.slice(start, start + MAX_HOSTS), originals);
    }
  }

  /**
   * Updates the hosts and the original hosts of constructed inventories. Locks their inventories first, as
   * imports do. Locks rows in the order of their ids, and all parts of a run are in the order of original hosts,
   * so that jobs of one inventory that end at the same time cannot deadlock.
   *
   * @param touched name at the start of the run, and id
   */
  private async updateHosts(
    runId: number,
    touched: readonly (readonly [name: string, id: number])[],
    originals: HostsOfRun['originals'],
  ): Promise<void> {
    const hostIds = touched.map(([, id]) => id);
    const originalIds = hostIds.map((id) =>
      originals === null ? id : (originals.get(id) ?? null),
    );
    await this.database.execute(sql`
      WITH owners AS MATERIALIZED (
        ${lockInventoriesOf(sql`SELECT unnest(${[...hostIds, ...originalIds]}::int[])`)}
      ), played AS (
        SELECT given.id, given.name, summary.id AS summary_id, given.real_id
        FROM unnest(${hostIds}::int[], ${originalIds}::int[],
          ${touched.map(([name]) => name)}::text[]) AS given(id, real_id, name)
        JOIN job_host_summaries summary ON summary.host_name = given.name
        WHERE summary.job_id = ${runId}
      ), shown AS (
        SELECT id, summary_id FROM played
        UNION SELECT real_id, summary_id FROM played WHERE real_id IS NOT NULL
        UNION ${constructedOf(sql`
          SELECT real_id AS id, name, summary_id FROM played WHERE real_id IS NOT NULL`)}
      ), locked AS (
        SELECT host.id, shown.summary_id FROM shown JOIN (${allHosts()}) host ON host.id = shown.id
        -- Always true. PostgreSQL runs a part of a statement only for another part that reads it.
        WHERE (SELECT count(*) FROM owners) >= 0
        ORDER BY host.id FOR NO KEY UPDATE OF host
      ), linked AS (
        UPDATE job_host_summaries summary
        SET host_id = tied.host_id, constructed_host_id = tied.constructed_host_id
        FROM (
          SELECT played.summary_id, host.id AS host_id,
            CASE WHEN ${originals !== null} THEN made.id END AS constructed_host_id
          FROM played LEFT JOIN locked host ON host.id = played.real_id
          LEFT JOIN locked made ON made.id = played.id) tied
        WHERE summary.id = tied.summary_id)
      ${showLastJob(runId, sql`SELECT id, summary_id FROM locked`)}`);
  }

  /** Returns hosts of a run, those with failures first. */
  ofRun(runId: number, limit: number): Promise<RunHost[]> {
    return this.database.rows<RunHost>(sql`
      SELECT host_name, host_id, ok, changed, failures, dark, skipped,
        (count(*) OVER ())::int AS total
      FROM job_host_summaries WHERE job_id = ${runId}
      ORDER BY failed DESC, host_name LIMIT ${limit}`);
  }

  async failedHosts(runId: number): Promise<string[]> {
    const rows = await this.database.rows<{ host_name: string }>(sql`
      SELECT host_name FROM job_host_summaries
      WHERE job_id = ${runId} AND failed ORDER BY host_name`);
    return rows.map(({ host_name: name }) => name);
  }

  async counts(runId: number): Promise<HostCounts> {
    return this.database.rowOrFail<HostCounts>(sql`
      SELECT count(*)::int AS all, (count(*) FILTER (WHERE failed))::int AS failed,
        ${hasStatistics(runId)} AS stats
      FROM job_host_summaries WHERE job_id = ${runId}`);
  }

  /**
   * Deletes up to `limit` summaries of runs, and clears the last job of their hosts: the deletion of a run
   * would clear it for all hosts in one statement.
   */
  removeOf(runIds: readonly number[], limit: number): Promise<number> {
    // In a transaction, which is repeated after a deadlock: changes of hosts lock their inventory first.
    const remove = sql`
      WITH old AS (
        SELECT id FROM job_host_summaries WHERE job_id = ANY(${runIds}::bigint[]) LIMIT ${limit}),
      hidden AS (${hideLastJobs(sql`SELECT id FROM old`)})
      DELETE FROM job_host_summaries WHERE id IN (SELECT id FROM old)`;
    return this.database.transaction(() => this.database.execute(remove));
  }
}
