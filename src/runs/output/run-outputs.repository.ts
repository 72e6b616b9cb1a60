import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { sql, type Sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { JobEvent } from '../events/job-event.entity.js';

/** The output of an event and the line on which it begins. */
export interface OutputChunk {
  counter: number;
  stdout: string;
  start_line: number;
}

/** The output of one event, as a part of a displayed output. */
export interface OutputPart {
  id: number;
  counter: number;
  event: string;
  /** Host and outcome of a task; null for other events. */
  host: string | null;
  state: 'ok' | 'changed' | 'failed' | 'unreachable' | 'skipped' | null;
  stdout: string;
  /** Line of the output on which the part begins, counted from 0. */
  start_line: number;
  created: string;
  /** True for the first or last part of the output, depending on the direction of the query. */
  edge: boolean;
}

/** Maximum amount of output per query. */
export interface OutputBounds {
  events: number;
  bytes: number;
}

/** A task that failed with the same message on some hosts, or that did not reach them. */
export interface RunFailure {
  play: string;
  task: string;
  /** True if the hosts were unreachable. */
  dark: boolean;
  /** Error message of the task. */
  message: string;
  start_line: number;
  /** The first hosts, each with the id of its event. */
  hosts: readonly { id: number; name: string }[];
  /** Number of failures of the group. */
  count: number;
  /** Numbers of failures, tasks that failed, and hosts that they failed on, in the whole run. */
  total: number;
  total_tasks: number;
  total_hosts: number;
}

/** Maximum number of failures whose messages are read: a run can fail on any number of hosts. */
const MAX_READ_FAILURES = 2000;
/** Maximum number of hosts of a failure. */
const MAX_FAILED_HOSTS = 20;

/** An event whose output contains the searched text. */
export interface FoundOutput {
  stdout: string;
  start_line: number;
}

/** Reads the outputs of runs: whole, in parts for pages, search results, failures. */
@Injectable()
export class RunOutputsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(JobEvent) repository: Repository<JobEvent>) {
    super(repository);
  }

  /**
   * Returns the size of the lines `start` to `end` of an output, in bytes, and the number of lines
   * of the whole output.
   */
  async size(runId: number, start: number, end: number): Promise<{ bytes: number; lines: number }> {
    const size = await this.database.row<{ bytes: number; lines: number }>(sql`
      SELECT coalesce(sum(octet_length(stdout) + 1)
          FILTER (WHERE end_line > ${start} AND start_line < ${end}), 0)::float8 AS bytes,
        coalesce(max(end_line), 0) AS lines
      FROM job_events WHERE job_id = ${runId} AND stdout <> ''`);
    return size ?? { bytes: 0, lines: 0 };
  }

  /** Returns the events that printed the lines `start` to `end`, in order. */
  lines(runId: number, start: number, end: number): Promise<OutputChunk[]> {
    return this.database.rows<OutputChunk>(sql`
      SELECT counter, stdout, start_line FROM job_events
      WHERE job_id = ${runId} AND stdout <> '' AND end_line > ${start} AND start_line < ${end}
      ORDER BY start_line, counter`);
  }

  /**
   * Returns the output of the events after a counter, including events without output, at least that of
   * the next event.
   */
  after(runId: number, counter: number, limit: OutputBounds): Promise<OutputChunk[]> {
    return this.database.rows<OutputChunk>(sql`
      SELECT counter, stdout, start_line FROM (
        SELECT counter, stdout, start_line,
          sum(octet_length(stdout)) OVER (ORDER BY counter) - octet_length(stdout) AS preceding
        FROM (
          SELECT counter, stdout, start_line FROM job_events
          WHERE job_id = ${runId} AND counter > ${counter}
          ORDER BY counter LIMIT ${limit.events}) part) sized
      WHERE preceding <= ${limit.bytes} ORDER BY counter`);
  }

  /**
   * Returns the end of an output, at least its last event; `edge` marks the beginning of the
   * output.
   */
  async tail(runId: number, limit: OutputBounds): Promise<OutputPart[]> {
    const parts = await this.parts(sql`job_id = ${runId}`, sql`DESC`, limit);
    return parts.reverse();
  }

  /** Returns an output from a line on, counted from 0; `edge` marks the end of the output. */
  from(runId: number, line: number, limit: OutputBounds): Promise<OutputPart[]> {
    return this.parts(sql`job_id = ${runId} AND end_line > ${line}`, sql`ASC`, limit);
  }

  private parts(condition: Sql, order: Sql, limit: OutputBounds): Promise<OutputPart[]> {
    return this.database.rows<OutputPart>(sql`
      SELECT id, counter, event, left(stdout, ${limit.bytes}) AS stdout, start_line, created,
        is_edge AS edge, nullif(host_name, '') AS host,
        CASE WHEN event = 'runner_on_unreachable' THEN 'unreachable'
          WHEN event = 'runner_on_skipped' THEN 'skipped'
          WHEN event !~ '^runner_on_' OR event = 'runner_on_start' OR host_name = '' THEN NULL
          WHEN failed THEN 'failed' WHEN changed THEN 'changed' ELSE 'ok' END AS state
      FROM (
        SELECT part.*, sum(octet_length(stdout) + 1) OVER next AS bytes,
          lead(counter) OVER next IS NULL AS is_edge,
          row_number() OVER next AS place
        FROM (
          SELECT id, counter, event, stdout, start_line, created, host_name, failed, changed
          FROM job_events
          WHERE ${condition} AND stdout <> ''
          ORDER BY counter ${order} LIMIT ${limit.events + 1}
        ) part
        WINDOW next AS (ORDER BY counter ${order})
      ) sized
      WHERE place = 1 OR (place <= ${limit.events} AND bytes <= ${limit.bytes})
      ORDER BY counter ${order}`);
  }

  /** Searches an output for a text, case-insensitively. */
  search(runId: number, text: string, limit: number): Promise<FoundOutput[]> {
    return this.database.rows<FoundOutput>(sql`
      SELECT stdout, start_line FROM job_events
      WHERE job_id = ${runId} AND strpos(lower(stdout), lower(${text})) > 0
      ORDER BY counter LIMIT ${limit}`);
  }

  /** Returns the failures of a run that were not ignored, by task and message, in order. */
  failures(runId: number, limit: number): Promise<RunFailure[]> {
    return this.database.rows<RunFailure>(sql`
      WITH failed AS (
        SELECT id, counter, play, task, host_name, event = 'runner_on_unreachable' AS dark, start_line
        FROM job_events
        WHERE job_id = ${runId} AND failed AND event IN (
          'runner_on_failed', 'runner_on_async_failed', 'runner_on_error', 'runner_on_unreachable')),
      failure AS (
        SELECT first.*, (SELECT left(concat_ws(E'\\n', nullif(event_data #>> '{res,msg}', ''),
            coalesce(nullif(event_data #>> '{res,stderr}', ''),
              nullif(event_data #>> '{res,module_stderr}', ''),
              nullif(event_data #>> '{res,reason}', ''))), 1000)
            FROM job_events WHERE job_id = ${runId} AND counter = first.counter) AS message
        FROM (SELECT * FROM failed ORDER BY counter LIMIT ${MAX_READ_FAILURES}) first)
      SELECT play, task, dark, message, min(start_line) AS start_line, count(*)::int AS count,
        to_json((array_agg(json_build_object('id', id, 'name', host_name) ORDER BY counter))
          [1:${MAX_FAILED_HOSTS}]) AS hosts,
        (SELECT count(*)::int FROM failed) AS total,
        (SELECT count(DISTINCT (play, task))::int FROM failed) AS total_tasks,
        (SELECT count(DISTINCT host_name)::int FROM failed) AS total_hosts
      FROM failure GROUP BY play, task, dark, message
      ORDER BY min(counter) LIMIT ${limit}`);
  }
}
