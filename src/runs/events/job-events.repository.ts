import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { sql, type Sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import { allHosts } from '../../inventories/hosts.repository.js';
import { leaseOf, type LeasedRun } from '../run-leases.repository.js';
import type { TreeEvent } from './job-event-tree.js';
import { JobEvent } from './job-event.entity.js';

/**
 * One event in the form in which a run stores it. All texts are storable; `eventData` is plain
 * JSON.
 */
export interface EventRow {
  readonly uuid: string;
  /** Parent uuid; empty for the playbook itself and for output before the playbook. */
  readonly parentUuid: string;
  readonly counter: number;
  readonly event: string;
  readonly eventDisplay: string;
  readonly eventLevel: number;
  readonly failed: boolean;
  readonly changed: boolean;
  readonly hostName: string;
  readonly playbook: string;
  readonly play: string;
  readonly task: string;
  readonly role: string;
  readonly stdout: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly verbosity: number;
  readonly eventData: Record<string, unknown>;
  /** Time of the event: ISO 8601, UTC. */
  readonly created: string;
}

/** An event with its data as JSON text, serialized once for measuring, storing and retries. */
export interface StoredEvent extends EventRow {
  readonly dataText: string;
}

export type TaskOutcome = 'ok' | 'changed' | 'failures' | 'dark' | 'skipped';

/** A task of a run: the number of hosts by outcome, and the first of these hosts. */
export interface RunTask extends Record<TaskOutcome, number> {
  play: string;
  task: string;
  total: number;
  hosts: { id: number; host: string; outcome: TaskOutcome }[];
}

/**
 * Maximum number of ancestors of an event that are marked. Ansible's events have three; a run can write
 * longer chains, and each generation reads all events of the run.
 */
const MAX_HEIGHT = 8;

@Injectable()
export class JobEventsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(JobEvent) repository: Repository<JobEvent>) {
    super(repository);
  }

  /**
   * Stores events of a run if its lease is valid; events that are already stored do not change.
   *
   * @returns true if the lease is valid
   */
  async store(run: LeasedRun, events: readonly StoredEvent[]): Promise<boolean> {
    const column = <Key extends keyof StoredEvent>(key: Key) => events.map((event) => event[key]);
    const hosts = events.map(({ hostName }) => run.hosts?.get(hostName) ?? null);
    const row = await this.database.row<{ is_held: boolean }>(sql`
      WITH lease AS (${leaseOf(run)}), stored AS (
        INSERT INTO job_events (job_id, host_id, created, modified, uuid, parent_uuid, counter, event,
          event_display, event_level, failed, changed, host_name, playbook, play, task, role, stdout,
          start_line, end_line, verbosity, event_data)
        SELECT lease.id, host.id, e.created, now(), e.uuid, e.parent_uuid, e.counter, e.event,
          e.event_display, e.event_level, e.failed, e.changed, e.host_name, e.playbook, e.play, e.task,
          e.role, e.stdout, e.start_line, e.end_line, e.verbosity, e.event_data::json
        FROM lease CROSS JOIN unnest(
          ${column('created')}::timestamptz[], ${column('uuid')}::text[], ${column('parentUuid')}::text[],
          ${column('counter')}::int[], ${column('event')}::text[], ${column('eventDisplay')}::text[],
          ${column('eventLevel')}::int[], ${column('failed')}::bool[], ${column('changed')}::bool[],
          ${column('hostName')}::text[], ${column('playbook')}::text[], ${column('play')}::text[],
          ${column('task')}::text[], ${column('role')}::text[], ${column('stdout')}::text[],
          ${column('startLine')}::int[], ${column('endLine')}::int[], ${column('verbosity')}::int[],
          ${column('dataText')}::text[], ${hosts}::int[]
        ) AS e(created, uuid, parent_uuid, counter, event, event_display, event_level, failed, changed,
          host_name, playbook, play, task, role, stdout, start_line, end_line, verbosity, event_data, host_id)
        LEFT JOIN (${allHosts()}) host ON host.id = e.host_id
        ON CONFLICT (job_id, counter) DO NOTHING)
      SELECT EXISTS (SELECT 1 FROM lease) AS is_held`);
    return row?.is_held === true;
  }

  /** Returns the counter of the last stored event of each run; runs without events are missing. */
  async lastCounters(runIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.preparedRows<{ id: number; counter: number }>(sql`
      SELECT run.id, last.counter FROM unnest(${runIds}::bigint[]) AS run (id)
      CROSS JOIN LATERAL (
        SELECT counter FROM job_events WHERE job_id = run.id ORDER BY counter DESC LIMIT 1) last`);
    return new Map(rows.map(({ id, counter }) => [id, counter]));
  }

  /** Returns the fields of a run's first `limit` events that determine their tree, in order. */
  tree(runId: number, limit: number): Promise<(TreeEvent & Row)[]> {
    return this.database.rows<TreeEvent & Row>(sql`
      SELECT counter, uuid, parent_uuid, event FROM job_events
      WHERE job_id = ${runId} ORDER BY counter LIMIT ${limit}`);
  }

  /** Returns the tasks of a run in order, with their results. */
  tasks(
    runId: number,
    limit: { events: number; tasks: number; hosts: number },
  ): Promise<RunTask[]> {
    return this.database.rows<RunTask>(sql`
      WITH result AS (
        SELECT id, counter, parent_uuid, play, task, host_name,
          CASE WHEN event = 'runner_on_unreachable' THEN 'dark'
            WHEN event IN ('runner_on_failed', 'runner_on_async_failed', 'runner_on_error')
              THEN 'failures'
            WHEN event = 'runner_on_skipped' THEN 'skipped'
            WHEN changed THEN 'changed' ELSE 'ok' END AS outcome
        FROM job_events
        WHERE job_id = ${runId} AND counter <= ${limit.events} AND task <> '' AND event IN (
          'runner_on_ok', 'runner_on_async_ok', 'runner_on_failed', 'runner_on_async_failed',
          'runner_on_error', 'runner_on_unreachable', 'runner_on_skipped')),
      ranked AS (
        SELECT *, row_number() OVER (PARTITION BY play, task, parent_uuid
          ORDER BY outcome IN ('failures', 'dark') DESC, counter) AS place FROM result)
      SELECT play, task, count(*)::int AS total,
        count(*) FILTER (WHERE outcome = 'ok')::int AS ok,
        count(*) FILTER (WHERE outcome = 'changed')::int AS changed,
        count(*) FILTER (WHERE outcome = 'failures')::int AS failures,
        count(*) FILTER (WHERE outcome = 'dark')::int AS dark,
        count(*) FILTER (WHERE outcome = 'skipped')::int AS skipped,
        json_agg(json_build_object('id', id, 'host', host_name, 'outcome', outcome)
          ORDER BY place) FILTER (WHERE place <= ${limit.hosts}) AS hosts
      FROM ranked GROUP BY play, task, parent_uuid ORDER BY min(counter) LIMIT ${limit.tasks}`);
  }

  /**
   * Marks tasks, plays and playbooks as failed or changed if an event in them failed or changed
   * something. Reads the events twice, because a run can have a million of them: first for the events with
   * children, which are few, then for the parents of these.
   */
  async propagate(runId: number): Promise<void> {
    await this.database.execute(sql`
      WITH RECURSIVE parent AS MATERIALIZED (
        SELECT parent_uuid AS uuid, bool_or(failed) AS failed, bool_or(changed) AS changed
        FROM job_events WHERE job_id = ${runId} AND parent_uuid <> '' GROUP BY parent_uuid
      ), inner_event AS MATERIALIZED (
        SELECT event.counter, event.uuid, event.parent_uuid
        FROM job_events event JOIN parent USING (uuid) WHERE event.job_id = ${runId}
      ), marked AS (
        SELECT uuid, failed, changed, 1 AS height FROM parent WHERE failed OR changed
        UNION
        SELECT event.parent_uuid, marked.failed, marked.changed, marked.height + 1
        FROM marked JOIN inner_event event USING (uuid)
        WHERE event.parent_uuid <> '' AND marked.height < ${MAX_HEIGHT}
      ), result AS (
        SELECT inner_event.counter, bool_or(marked.failed) AS failed, bool_or(marked.changed) AS changed
        FROM inner_event JOIN marked USING (uuid) GROUP BY inner_event.counter)
      UPDATE job_events event
      SET failed = event.failed OR result.failed, changed = event.changed OR result.changed
      FROM result
      WHERE event.job_id = ${runId} AND event.counter = result.counter
        AND (result.failed AND NOT event.failed OR result.changed AND NOT event.changed)`);
  }

  /**
   * Deletes up to `limit` events of runs that ended at least `days` ago and whose event count is not 0.
   *
   * @returns number of deleted events
   */
  removeOld(days: number, limit: number): Promise<number> {
    return this.removeFrom(
      sql`
        SELECT id FROM unified_jobs
        WHERE event_total > 0 AND finished < now() - make_interval(days => ${days}::int)
        LIMIT ${limit}`,
      limit,
    );
  }

  /** Deletes up to `limit` events of runs. */
  removeOf(runIds: readonly number[], limit: number): Promise<number> {
    return this.removeFrom(sql`SELECT unnest(${runIds}::bigint[]) AS id`, limit);
  }

  private removeFrom(runs: Sql, limit: number): Promise<number> {
    return this.database.execute(sql`
      DELETE FROM job_events event USING (
        SELECT old.job_id, old.counter FROM (${runs}) run
        CROSS JOIN LATERAL (
          SELECT job_id, counter FROM job_events WHERE job_id = run.id LIMIT ${limit}) old
        LIMIT ${limit}) old
      WHERE event.job_id = old.job_id AND event.counter = old.counter`);
  }
}

/**
 * Returns a query for the end of a run's output: `counter` and `line`, both 0 before its first
 * event.
 */
export const endOfOutput = (runId: Sql): Sql => sql`
  SELECT coalesce(max(counter), 0) AS counter, coalesce(max(end_line), 0) AS line
  FROM job_events WHERE job_id = ${runId}`;

/** Returns the SQL condition that the final statistics of a run were stored. */
export const hasStatistics = (runId: number): Sql => sql`
  EXISTS (SELECT 1 FROM job_events WHERE job_id = ${runId} AND event = 'playbook_on_stats')`;
