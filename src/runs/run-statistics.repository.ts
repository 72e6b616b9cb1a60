import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { Lookback } from './run-overviews.repository.js';
import { UnifiedJob } from './unified-job.entity.js';

/** Results and durations of a day's jobs. */
export interface DayOutcomes {
  /** Date in UTC, such as `2026-01-31`. */
  day: string;
  successful: number;
  failed: number;
  error: number;
  canceled: number;
  /** Median duration in seconds; null if no job ended. */
  median_seconds: number | null;
  longest_seconds: number | null;
}

/** Selection of the ended runs that `results` counts. */
export interface ResultsQuery {
  /** Interval of PostgreSQL, such as `1 month`. */
  period: string;
  unit: 'hour' | 'day';
  types: readonly string[];
}

/** Numbers of runs that ended in an hour or on a day. */
export interface PeriodResults {
  /** Start in seconds since 1970. */
  start: number;
  successful: number;
  failed: number;
  error: number;
  canceled: number;
}

/** A task of a template's jobs, with its duration on all hosts of a job together. */
export interface SlowTask {
  task: string;
  job_template: number | null;
  /** Name of the template, as of its last job. */
  name: string;
  times: number;
  mean_seconds: number;
  longest_seconds: number;
}

export interface FailingHost {
  /** Id of the host; null if it was deleted. */
  host: number | null;
  name: string;
  jobs: number;
  failed: number;
  /** Id of the last job that failed on the host. */
  last_failed: number;
}

/** Active runs by status. */
export interface QueuedRuns {
  status: string;
  runs: number;
  /** Creation time of the oldest run. */
  oldest: string;
}

/** Maximum age and number of the jobs that a query reads. Its cost is independent of the table size. */
export interface Newest {
  days: number;
  jobs: number;
}

/** Statistics of recent runs that the caller can read, with one statement for each. */
@Injectable()
export class RunStatisticsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /** Returns results by day, including days without runs. */
  outcomes(actor: Actor, { days, newest }: Lookback): Promise<DayOutcomes[]> {
    return this.database.rows<DayOutcomes>(sql`
      SELECT to_char(day, 'YYYY-MM-DD') AS day, coalesce(successful, 0)::int AS successful,
        coalesce(failed, 0)::int AS failed, coalesce(error, 0)::int AS error,
        coalesce(canceled, 0)::int AS canceled, median_seconds, longest_seconds
      FROM generate_series((now() AT TIME ZONE 'UTC')::date - ${days - 1}::int,
        (now() AT TIME ZONE 'UTC')::date, interval '1 day') AS day
      LEFT JOIN (
        SELECT (t.finished AT TIME ZONE 'UTC')::date AS finished_day,
          count(*) FILTER (WHERE t.status = 'successful') AS successful,
          count(*) FILTER (WHERE t.status = 'failed') AS failed,
          count(*) FILTER (WHERE t.status = 'error') AS error,
          count(*) FILTER (WHERE t.status = 'canceled') AS canceled,
          percentile_cont(0.5) WITHIN GROUP (ORDER BY t.elapsed) AS median_seconds,
          max(t.elapsed) AS longest_seconds
        FROM unified_jobs t
        WHERE t.id > (SELECT coalesce(max(id), 0) - ${newest} FROM unified_jobs)
          AND ${endedJob(actor, days)}
        GROUP BY 1
      ) counted ON counted.finished_day = day
      ORDER BY day`);
  }

  /**
   * Returns the number of ended runs by hour or day in UTC, from the start of a period until now. Does not
   * count the syncs inside jobs.
   */
  results(actor: Actor, { period, unit, types }: ResultsQuery): Promise<PeriodResults[]> {
    return this.database.rows<PeriodResults>(sql`
      WITH counted AS (
        SELECT date_trunc(${unit}, t.finished AT TIME ZONE 'UTC') AS start, t.status,
          count(*)::int AS runs
        FROM unified_jobs t
        WHERE t.finished >= date_trunc(${unit}, now() - ${period}::interval, 'UTC')
          AND t.launch_type <> 'sync' AND t.type = ANY(${types}::text[])
          AND (${permit(resource('unified_job').policy, 'read', 't', actor)})
        GROUP BY 1, 2)
      SELECT extract(epoch FROM start AT TIME ZONE 'UTC')::float8 AS start,
        coalesce(sum(runs) FILTER (WHERE status = 'successful'), 0)::int AS successful,
        coalesce(sum(runs) FILTER (WHERE status = 'failed'), 0)::int AS failed,
        coalesce(sum(runs) FILTER (WHERE status = 'error'), 0)::int AS error,
        coalesce(sum(runs) FILTER (WHERE status = 'canceled'), 0)::int AS canceled
      FROM generate_series(
        date_trunc(${unit}, (now() - ${period}::interval) AT TIME ZONE 'UTC'),
        now() AT TIME ZONE 'UTC', ('1 ' || ${unit})::interval) AS start
      LEFT JOIN counted USING (start)
      GROUP BY start ORDER BY start`);
  }

  /**
   * Returns the slowest tasks, measured from the start of each task to the next task, play or statistics.
   */
  slowTasks(actor: Actor, newest: Newest, limit: number): Promise<SlowTask[]> {
    return this.database.rows<SlowTask>(sql`
      WITH job AS (${newestJobs(actor, newest)}),
      step AS (
        SELECT job.template, job.id, job.name, event.task,
          extract(epoch FROM lead(event.created) OVER (PARTITION BY job.id ORDER BY event.counter)
            - event.created)::float8 AS seconds
        FROM job JOIN job_events event ON event.job_id = job.id
        WHERE event.event IN ('playbook_on_task_start', 'playbook_on_handler_task_start',
          'playbook_on_play_start', 'playbook_on_stats'))
      SELECT task, template AS job_template, (array_agg(name ORDER BY id DESC))[1] AS name,
        count(*)::int AS times, avg(seconds)::float8 AS mean_seconds,
        max(seconds)::float8 AS longest_seconds
      FROM step WHERE task <> '' AND seconds IS NOT NULL
      GROUP BY template, task ORDER BY mean_seconds DESC, task LIMIT ${limit}`);
  }

  /** Returns the hosts with the most failed jobs. */
  failingHosts(actor: Actor, newest: Newest, limit: number): Promise<FailingHost[]> {
    return this.database.rows<FailingHost>(sql`
      SELECT summary.host_id AS host, summary.host_name AS name, count(*)::int AS jobs,
        count(*) FILTER (WHERE summary.failed)::int AS failed,
        max(job.id) FILTER (WHERE summary.failed) AS last_failed
      FROM (${newestJobs(actor, newest)}) job
      JOIN job_host_summaries summary ON summary.job_id = job.id
      GROUP BY summary.host_id, summary.host_name
      HAVING count(*) FILTER (WHERE summary.failed) > 0
      ORDER BY failed DESC, name LIMIT ${limit}`);
  }

  /** Returns the active runs of every kind by status. */
  queue(actor: Actor): Promise<QueuedRuns[]> {
    return this.database.rows<QueuedRuns>(sql`
      SELECT t.status, count(*)::int AS runs, min(t.created) AS oldest FROM unified_jobs t
      WHERE t.status IN ('new', 'pending', 'waiting', 'running')
        AND (${permit(resource('unified_job').policy, 'read', 't', actor)})
      GROUP BY t.status ORDER BY t.status`);
  }
}

const endedJob = (actor: Actor, days: number): Sql => sql`
  t.type = 'job' AND t.finished >= now() - make_interval(days => ${days})
  AND (${permit(resource('job').policy, 'read', 't', actor)})`;

const newestJobs = (actor: Actor, { days, jobs }: Newest): Sql => sql`
  SELECT t.id, t.name, t.job_template_id AS template FROM unified_jobs t
  WHERE ${endedJob(actor, days)} ORDER BY t.id DESC LIMIT ${jobs}`;
