import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { and, join, or, rowCount, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allEnvironments } from '../execution-environments/execution-environments.repository.js';
import { groupNames } from '../instances/instance-groups.repository.js';
import type { TemplateRuns } from '../templates/template-runs.js';
import { templateNames } from '../templates/templates.repository.js';
import { usernameOf } from '../users/users.repository.js';
import type { RunRequest } from './launcher.js';
import { RunSchedules, RunWorkflows } from './run-causes.js';
import { UnifiedJob, type JobStatus } from './unified-job.entity.js';
import { SIGNATURE_FAILED } from './run-explanations.js';
import { EXECUTED_KINDS } from './executed-kinds.js';

/** First key of the advisory lock on callback launches of a template; the second key is its id. */
const CALLBACK_LOCK = 7_303;

/** Data for the representations of all kinds of runs, beyond the columns of a list. */
export interface RunFacts extends Row {
  type: string;
  /**
   * Launch type of the run; if no user launched it, that of the outermost workflow job around it.
   */
  launch_type: string;
  /** Elapsed seconds of a run with the status `running`; otherwise null. */
  live_elapsed: number | null;
  created_by_id: number | null;
  /** Name of the user; null also if the reader has no permission to see the user. */
  username: string | null;
  template_id: number | null;
  template_name: string | null;
  template_type: string | null;
  /** Template that an event launched: of the run, or of the outermost workflow job around it. */
  launched_id: number | null;
  launched_name: string | null;
  launched_type: string | null;
  /** Workflow job of which the run is a node. */
  source_id: number | null;
  schedule_id: number | null;
  /** Name of the schedule; null also if the reader has no permission to see it. */
  schedule_name: string | null;
}

/** Fields of a run that its events display. */
export interface RunOfEvents {
  id: number;
  type: string;
  name: string;
  description: string;
  status: string;
  failed: boolean;
  elapsed: number;
  job_template_id: number | null;
  job_template_name: string | null;
}

/** State of a run for live updates. */
export interface LiveRun extends Row {
  type: string;
  status: JobStatus;
  started: string | null;
  finished: string | null;
  /** Number of stored events, once the run has ended. */
  emitted_events: number;
  /** Workflow job of which the run is a node. */
  workflow_job_id: number | null;
  workflow_node_id: number | null;
  instance_group_name: string | null;
  /** True if the reader has permission to read the run. */
  may_read: boolean;
}

/** An update in the representation of its template. */
export interface ShownUpdate {
  id: number;
  name: string;
  description: string;
  status: string;
  failed: boolean;
}

/** Rows of a link table: the owner and the linked object. */
type Links = readonly (readonly (number | undefined)[])[];

/** A run and the schedule occurrence that launched it. */
export interface ScheduledRun {
  id: number;
  scheduleId: number;
  occurrence: Date;
}

/** Returns the condition that the reader has permission to read a run `t` by its own URL. */
const mayRead = (reader: Actor): Sql =>
  or(
    ...[...EXECUTED_KINDS, 'workflow_job', 'workflow_approval']
      .map(resource)
      .map((kind) => and(kind.partCondition('t'), permit(kind.policy, 'read', 't', reader))),
  );

/** Returns a query for the fields that events display of their runs (`RunOfEvents`). */
export const runsOfEvents = (ids: readonly number[]): Sql => sql`
  SELECT run.id, run.type, run.name, run.description, run.status, run.failed, run.elapsed,
    run.unified_job_template_id AS job_template_id, tpl.name AS job_template_name
  FROM unified_jobs run
  LEFT JOIN (${templateNames()}) tpl ON tpl.id = run.unified_job_template_id
  WHERE run.id = ANY(${ids}::bigint[])`;

/** Runs of every kind, which share a table and its ids. */
@Injectable()
export class RunsRepository extends TableRepository<Row> implements TemplateRuns {
  constructor(
    @InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>,
    private readonly workflows: RunWorkflows,
    private readonly schedules: RunSchedules,
  ) {
    super(repository);
  }

  /**
   * Returns a query for the facts (`RunFacts`) of a page of runs. User names are only visible to
   * readers of the account. The query consists of separate parts, because PostgreSQL needs six times
   * as long to plan one join of eight tables, and planning takes most of the time.
   */
  facts(ids: readonly number[], reader: Actor): Sql {
    const nodes = this.workflows.nodesOfRuns();
    return sql`
      WITH run AS MATERIALIZED (
        SELECT own.id, own.type, own.status, own.started, own.created_by_id, own.unified_job_template_id,
          node.workflow_job_id AS source_id,
          coalesce((
            WITH RECURSIVE around AS (
              SELECT node.workflow_job_id AS id, 1 AS depth WHERE own.created_by_id IS NULL
              UNION ALL
              SELECT further.workflow_job_id, around.depth + 1
              FROM around JOIN (${nodes}) further ON further.job_id = around.id)
            SELECT id FROM around ORDER BY depth DESC LIMIT 1), own.id) AS launched_id
        FROM unified_jobs own
        LEFT JOIN (${nodes}) node
          ON node.job_id = own.id AND own.launch_type = 'workflow'
        WHERE own.id = ANY(${ids}::bigint[]))
      SELECT run.id, run.type, launched.launch_type, run.created_by_id, run.source_id, launched.schedule_id,
        ${usernameOf(sql`run.created_by_id`, reader)} AS username,
        (SELECT schedule.name FROM (${this.schedules.names()}) schedule
          WHERE schedule.id = launched.schedule_id) AS schedule_name,
        tpl.id AS template_id, tpl.name AS template_name,
        tpl.type AS template_type, origin.id AS launched_id,
        origin.name AS launched_name, origin.type AS launched_type,
        CASE WHEN run.status = 'running' THEN
          round(extract(epoch FROM clock_timestamp() - run.started)::numeric, 3)::float8
        END AS live_elapsed
      FROM run
      JOIN unified_jobs launched ON launched.id = run.launched_id
      LEFT JOIN (${templateNames()}) tpl ON tpl.id = run.unified_job_template_id
      LEFT JOIN (${templateNames()}) origin ON origin.id = launched.unified_job_template_id`;
  }

  /**
   * Returns a query for the newest runs of templates. Does not check permissions: every reader of a
   * template can see its runs.
   */
  recent(templateIds: readonly number[], limit: number): Sql {
    // The ids come from an index-only scan. If the query selected whole rows, PostgreSQL would scan
    // runs until enough belong to the template, and would scan all runs for a template without any.
    return sql`
      SELECT newest.template_id, run.id, run.status, run.finished, run.canceled_on, run.type
      FROM (
        SELECT tpl.id AS template_id, job.id FROM unnest(${templateIds}::int[]) AS tpl(id)
        CROSS JOIN LATERAL (
          SELECT id FROM unified_jobs
          WHERE unified_job_template_id = tpl.id ORDER BY id DESC LIMIT ${rowCount(limit)}) job) newest
      JOIN unified_jobs run ON run.id = newest.id ORDER BY run.id DESC`;
  }

  /** Returns the state of runs, including runs that the reader has no permission to read. */
  live(ids: readonly number[], reader: Actor): Promise<LiveRun[]> {
    return this.database.rows<LiveRun>(sql`
      SELECT t.id, t.type, t.status, t.started, t.finished, t.emitted_events,
        t.unified_job_template_id, t.job_template_id, t.project_id, t.inventory_source_id,
        t.inventory_id, t.schedule_id, node.workflow_job_id, node.id AS workflow_node_id,
        placed.name AS instance_group_name,
        (${mayRead(reader)}) AS may_read
      FROM unified_jobs t
      LEFT JOIN (${this.workflows.nodesOfRuns()}) node ON node.job_id = t.id
      LEFT JOIN (${groupNames()}) placed ON placed.id = t.instance_group_id
      WHERE t.id = ANY(${ids}::bigint[]) ORDER BY t.id`);
  }

  kinds(ids: readonly number[]): Sql {
    return sql`SELECT id, type FROM unified_jobs WHERE id = ANY(${ids}::bigint[])`;
  }

  async typesOf(ids: readonly number[]): Promise<Map<number, string>> {
    const rows = await this.database.rows<{ id: number; type: string }>(this.kinds(ids));
    return new Map(rows.map(({ id, type }) => [id, type]));
  }

  /** Returns updates with the fields that their templates display, by id. */
  async shownUpdates(ids: readonly number[]): Promise<Map<number, ShownUpdate>> {
    const rows = await this.database.preparedRows<ShownUpdate & Row>(sql`
      SELECT id, name, description, status, failed FROM unified_jobs WHERE id = ANY(${ids}::bigint[])`);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Returns the name of a run; empty if it was deleted. */
  async nameOf(id: number): Promise<string> {
    const row = await this.database.row<{ name: string }>(
      sql`SELECT name FROM unified_jobs WHERE id = ${id}`,
    );
    return row?.name ?? '';
  }

  /** Returns the ids of a job's credentials, in the order in which they were assigned. */
  credentialsOf(jobId: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT credential_id AS id FROM job_credentials lnk WHERE job_id = ${jobId} ORDER BY lnk.id`);
  }

  /** Returns the ids of the runs that the caller may cancel. */
  async cancelable(
    runs: readonly { id: number; type: string }[],
    actor: Actor,
  ): Promise<ReadonlySet<number>> {
    const types = [...new Set(runs.map(({ type }) => type))];
    const permitted = types.map((type) =>
      and(sql`t.type = ${type}`, permit(resource(type).policy, 'cancel', 't', actor)),
    );
    const found = await this.database.ids(sql`
      SELECT t.id FROM unified_jobs t
      WHERE t.id = ANY(${runs.map(({ id }) => id)}) AND ${or(...permitted)}`);
    return new Set(found);
  }

  /** Returns true if a run is part of a running workflow job. */
  async isInRunningWorkflow(id: number): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM (${this.workflows.nodesOfRuns()}) node
      JOIN unified_jobs run ON run.id = node.workflow_job_id
      WHERE node.job_id = ${id} AND run.status = 'running'`);
  }

  /**
   * Stores the execution environments of runs with their current image and pull policy.
   *
   * @param fallbacks ids of environments for a run without one, by precedence, over the row `run`
   */
  async storeEnvironments(ids: readonly number[], fallbacks: readonly Sql[]): Promise<void> {
    const candidates = [sql`run.execution_environment_id`, ...fallbacks];
    await this.database.execute(sql`
      UPDATE unified_jobs run SET execution_environment_id = env.id,
        environment = json_build_object('name', env.name, 'image', env.image, 'pull', env.pull)
      FROM (${allEnvironments()}) env
      WHERE run.id = ANY(${ids}::bigint[]) AND run.environment IS NULL
        AND env.id = coalesce(${join(candidates)})`);
  }

  /**
   * Locks callback launches of a template until the end of the transaction, so that they run one
   * after another.
   */
  async lockTemplate(templateId: number): Promise<void> {
    await this.database.execute(
      sql`SELECT pg_advisory_xact_lock(${CALLBACK_LOCK}, ${templateId}::int)`,
    );
  }

  /** Returns true if a template has an active run that is limited to one host. */
  async isLimitedTo(templateId: number, host: string): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM unified_jobs WHERE unified_job_template_id = ${templateId}
        AND status IN ('new', 'pending', 'waiting', 'running') AND "limit" = ${host} LIMIT 1`);
  }

  /** Returns true if any of the runs is active. */
  async hasActiveAmong(ids: readonly number[]): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM unified_jobs WHERE id = ANY(${ids}::bigint[])
        AND status IN ('new', 'pending', 'waiting', 'running') LIMIT 1`);
  }

  /**
   * Returns the number of active runs of each template; templates without active runs are missing.
   */
  async countActive(templateIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.rows<{ id: number; active: number }>(sql`
      SELECT unified_job_template_id AS id, count(*)::int AS active FROM unified_jobs
      WHERE status IN ('new', 'pending', 'waiting', 'running')
        AND unified_job_template_id = ANY(${templateIds}::int[]) GROUP BY 1`);
    return new Map(rows.map(({ id, active }) => [id, active]));
  }

  /**
   * Assigns credentials to jobs, in the given order.
   *
   * @param links pairs of job and credential
   */
  async attachCredentials(links: Links): Promise<void> {
    const rows = links.map(([job, credential]) => ({ job_id: job, credential_id: credential }));
    await this.insertMany(rows, 'job_credentials');
  }

  /** @param links pairs of job and label */
  async attachLabels(links: Links): Promise<void> {
    const rows = links.map(([job, label]) => ({ job_id: job, label_id: label }));
    await this.insertMany(rows, 'job_labels');
  }

  /**
   * Links runs to their schedule occurrences. The database rejects a second run of an occurrence.
   */
  async linkToSchedules(runs: readonly ScheduledRun[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_jobs run SET schedule_id = given.schedule_id,
        schedule_occurrence = given.occurrence
      FROM unnest(${runs.map(({ id }) => id)}::bigint[],
        ${runs.map(({ scheduleId }) => scheduleId)}::int[],
        ${runs.map(({ occurrence }) => occurrence)}::timestamptz[])
        AS given (id, schedule_id, occurrence)
      WHERE run.id = given.id`);
  }
}

/** Returns an SQL condition: a run failed because its project has no valid signature. */
export const hasInvalidSignature = (run: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM unified_jobs
    WHERE id = ${run} AND starts_with(job_explanation, ${SIGNATURE_FAILED}))`;

/** Returns a query for runs of every kind, for joins in statements about other tables. */
export const allRuns = (): Sql => sql`
  SELECT id, type, name, description, status, failed, elapsed, created, finished, canceled_on,
    timed_out, timeout, launch_type, is_bulk_job, unified_job_template_id, job_template_id, project_id,
    inventory_id, organization_id, created_by_id, workflow_job_id, cancel_requested, is_sliced_job,
    job_explanation, launch_config, artifacts,
    secret_artifacts, webhook_service, webhook_credential_id, webhook_delivery_id
  FROM unified_jobs`;

/**
 * Returns a query for the origins of requested runs, for the INSERT ... SELECT of each kind. The
 * column `place` is the position of the request, from 1.
 */
export function requestedRuns(requests: readonly RunRequest[]): Sql {
  const webhooks = requests.map(({ webhook }) => webhook);
  // A worker that needs a sync starts it immediately, under its own lease.
  const statuses = requests.map(({ launchType }) => (launchType === 'sync' ? 'new' : 'pending'));
  return sql`
    SELECT * FROM unnest(${requests.map(({ templateId }) => templateId)}::int[],
        ${requests.map(({ launchType }) => launchType)}::text[], ${statuses}::text[],
        ${requests.map(({ createdBy }) => createdBy)}::int[],
        ${webhooks.map((webhook) => webhook?.service ?? '')}::text[],
        ${webhooks.map((webhook) => webhook?.credentialId ?? null)}::int[],
        ${webhooks.map((webhook) => webhook?.guid ?? '')}::text[],
        ${webhooks.map((webhook) => webhook?.deliveryId ?? null)}::bigint[])
      WITH ORDINALITY AS request (template_id, launch_type, status, created_by_id,
        webhook_service, webhook_credential_id, webhook_guid, webhook_delivery_id, place)`;
}
