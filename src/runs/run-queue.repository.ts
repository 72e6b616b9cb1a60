import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { ident, raw, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import {
  existingGroups,
  defaultGroups,
  groupStates,
  mayStartOn,
  preferredGroupsOf,
} from '../instances/instance-groups.repository.js';
import { inventoryExcludesGroups, totalHostsOf } from '../inventories/inventories.repository.js';
import { inputsOf } from '../inventories/inventory-inputs.repository.js';
import { projectSources, templateExcludesGroups } from '../templates/templates.repository.js';
import { EXPLAIN_AFTER_SECONDS, NO_CAPACITY, NO_ENGINE, waitingFor } from './run-explanations.js';
import { type JobStatus, UnifiedJob } from './unified-job.entity.js';
import { IS_EXECUTED, type ExecutedKind } from './executed-kinds.js';

/** A run whose dependencies are not determined yet. */
export interface UnresolvedRun {
  id: number;
  type: string;
  inventory_id: number | null;
  /** Project of a job, or of an inventory update's source. */
  project_id: number | null;
  /** True if the project has a remote source and this launch requires a sync. */
  wants_sync: boolean;
  /** Active sync of the project, if any. */
  active_update_id: number | null;
}

/** The dependencies of a run. */
export interface ResolvedRun {
  id: number;
  /** Sync of the run's project; null: none. */
  projectUpdateId: number | null;
  /** Updates of the inventory of a job, or of the input inventories of an update. */
  inventoryUpdateIds: readonly number[];
}

/** A run that waits for another run that did not succeed. */
export interface BrokenJob {
  id: number;
  status: JobStatus;
  type: string;
  name: string;
  dependency_id: number;
}

/** Number of hosts that Ansible processes in parallel if `forks` is not set. */
const ANSIBLE_FORKS = 5;
/** Number of hosts that a provisioning callback is counted as. */
const CALLBACK_HOSTS = 2;
const SYSTEM_JOB_IMPACT = 5;

/** Active runs that are the same to the scheduler. */
export interface SimilarRuns {
  type: ExecutedKind;
  is_pending: boolean;
  /** False until the dependencies of pending runs are determined. */
  is_settled: boolean;
  template_id: number | null;
  /** Project of jobs, or of the sources of inventory updates. */
  project_id: number | null;
  inventory_id: number | null;
  allow_simultaneous: boolean;
  /** True for updates that other runs wait for. */
  is_dependency: boolean;
  /** First run that these runs wait for, as a dependency or because it updates an input inventory. */
  awaited_id: number | null;
  /** Instance groups that can execute these runs, best first. */
  preferred_groups: number[];
  /** False if no group is chosen yet, or if all chosen groups were deleted. */
  has_groups: boolean;
  /** Number of forks that each run is counted as. */
  impact: number;
  /** True if they run in containers of their execution environment. */
  needs_engine: boolean;
  ids: number[];
}

/** A pending run, and the run that must end before it starts. */
export interface PendingRun {
  id: number;
  blockerId: number | null;
}

/** Numbers of runs and forks of a group that are assigned to an instance. */
export interface Usage {
  hostname: string;
  group_id: number | null;
  runs: number;
  forks: number;
}

/** SQL condition for runs that are executed in containers. */
export const NEEDS_ENGINE = raw('environment IS NOT NULL');

/** SQL condition for runs whose dependencies are determined. */
const IS_SETTLED = raw(`(type NOT IN ('job', 'inventory_update') OR dependencies_processed)`);

/**
 * Returns an SQL array of the groups that a run prefers, best first: the groups of its launch, otherwise
 * the groups of its template, inventory and organization. A template or inventory can exclude the groups
 * of the following objects. Without any group, the array contains the default group.
 *
 * @param run alias of the run
 */
const groupsOfRun = (run: string): Sql => {
  const of = (column: string): Sql => ident(run, column);
  const prompted = sql`coalesce(${of('launch_config')} -> 'instance_groups', '[]')`;
  const template = of('unified_job_template_id');
  const isOpen = sql`NOT ${templateExcludesGroups(template)}`;
  return sql`coalesce((
    SELECT array_agg(id ORDER BY stage, position) FROM (
      SELECT DISTINCT ON (id) id, stage, position FROM (
        SELECT value::int AS id, 0 AS stage, position
          FROM json_array_elements_text(${prompted}) WITH ORDINALITY AS prompted(value, position)
        UNION ALL SELECT id, 1, position
          FROM (${preferredGroupsOf('job_template', template)}) of_template
        UNION ALL SELECT id, 2, position
          FROM (${preferredGroupsOf('inventory', of('inventory_id'))}) of_inventory WHERE ${isOpen}
        UNION ALL SELECT id, 3, position
          FROM (${preferredGroupsOf('organization', of('organization_id'))}) of_organization
          WHERE ${isOpen} AND NOT ${inventoryExcludesGroups(of('inventory_id'))}) found
      WHERE id = ANY(${existingGroups()}) AND (stage = 0 OR NOT EXISTS (
        SELECT 1 FROM json_array_elements_text(${prompted}) AS prompted(value)
        WHERE value::int = ANY(${existingGroups()})))
      ORDER BY id, stage, position) best), ${defaultGroups()})`;
};

/**
 * Returns the number of forks that a run is counted as. A job or command counts one more than the number of
 * hosts that it processes in parallel, which is limited by its forks. On a smart inventory, it counts as all its
 * forks. An update counts as one fork.
 */
const impactOfRun = (run: string): Sql => {
  const of = (column: string): Sql => ident(run, column);
  const forks = sql`coalesce(nullif(${of('forks')}, 0), ${ANSIBLE_FORKS})`;
  const hosts = sql`CASE WHEN ${of('launch_type')} = 'callback' THEN ${CALLBACK_HOSTS}
    ELSE ceil(${totalHostsOf(of('inventory_id'))}::float
      / greatest(${of('job_slice_count')}, 1))::int END`;
  return sql`CASE WHEN ${of('type')} IN ('job', 'ad_hoc_command')
    THEN least(coalesce(${hosts}, ${forks}), ${forks}) + 1
    WHEN ${of('type')} = 'system_job' THEN ${SYSTEM_JOB_IMPACT} ELSE 1 END`;
};

/** Number of runs at the head of the queue whose explanations show changes of free capacity. */
const NEXT_RUNS = 100;
/** Separates the reason of an explanation from the states of groups. */
const GROUP_STATES = raw(`' Instance groups: '`);

/** Query for the load of instances and groups. A sync is counted as part of its job. */
const USAGE = sql`
  SELECT execution_node AS hostname, instance_group_id AS group_id, count(*)::int AS runs,
    sum(impact)::int AS forks
  FROM unified_jobs
  WHERE status IN ('waiting', 'running') AND ${IS_EXECUTED} AND launch_type <> 'sync'
  GROUP BY execution_node, instance_group_id`;

@Injectable()
export class RunQueueRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Returns the pending runs and the runs that are assigned to instances. There can be thousands, so runs
   * that are the same to the scheduler share a row. After a sudden increase of jobs the planner's
   * statistics of the table are outdated. The query therefore looks up dependencies one by one instead of
   * by a join, and disables sorting, which the planner would prefer to hashing.
   */
  active(): Promise<SimilarRuns[]> {
    return this.database.transaction(async () => {
      await this.database.execute(sql`SET LOCAL enable_sort = off`);
      const found = await this.database.rows<SimilarRuns & Row>(sql`
        SELECT type, is_pending, is_settled, template_id, project_id, inventory_id, allow_simultaneous,
          is_dependency, awaited_id, coalesce(preferred_groups, '{}') AS preferred_groups,
          coalesce(preferred_groups && ${existingGroups()}, false) AS has_groups,
          impact, needs_engine, json_agg(id) AS ids
        FROM (
          SELECT id, type, status = 'pending' AS is_pending, ${IS_SETTLED} AS is_settled,
            unified_job_template_id AS template_id, coalesce(project_id, source_project_id) AS project_id,
            inventory_id, allow_simultaneous, launch_type = 'dependency' AS is_dependency,
            CASE WHEN status = 'pending' THEN coalesce(
              CASE WHEN depends_on::text <> '[]' THEN (
                SELECT min(wanted.id::bigint) FROM json_array_elements_text(depends_on) AS wanted(id)
                -- A dependency that fails after the query for broken ones ends its job in the next pass.
                WHERE (SELECT status FROM unified_jobs WHERE unified_jobs.id = wanted.id::bigint)
                  <> 'successful') END,
              CASE WHEN source = 'constructed' THEN (
                SELECT min(other.id) FROM (${inputsOf(sql`run.inventory_id`)}) input
                JOIN unified_jobs other ON other.inventory_id = input.input_id
                WHERE other.type = 'inventory_update'
                  AND other.status IN ('pending', 'waiting', 'running')
                  AND (other.status <> 'pending' OR other.id < run.id)) END) END AS awaited_id,
            preferred_groups, impact, ${NEEDS_ENGINE} AS needs_engine
          FROM unified_jobs run
          WHERE status IN ('pending', 'waiting', 'running') AND ${IS_EXECUTED}) active
        GROUP BY type, is_pending, is_settled, template_id, project_id, inventory_id,
          allow_simultaneous, is_dependency, awaited_id, active.preferred_groups, impact, needs_engine`);
      await this.database.execute(sql`SET LOCAL enable_sort TO DEFAULT`);
      return found;
    });
  }

  /**
   * Stores the preferred groups of pending runs that have none, or whose groups were all deleted. Jobs and
   * inventory updates normally receive their groups from `storeDependencies`.
   */
  async chooseGroups(): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_jobs run SET preferred_groups = ${groupsOfRun('run')},
        impact = ${impactOfRun('run')}
      WHERE status = 'pending' AND ${IS_EXECUTED}
        AND (preferred_groups IS NULL OR NOT preferred_groups && ${existingGroups()})`);
  }

  /** Returns the waiting runs whose instance no longer accepts runs of their group. */
  stranded(): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM unified_jobs WHERE status = 'waiting' AND ${IS_EXECUTED}
        AND NOT ${mayStartOn(sql`instance_group_id`, sql`execution_node`, NEEDS_ENGINE)}`);
  }

  /** Returns the numbers of runs and forks that are assigned to instances. */
  usage(): Promise<Usage[]> {
    return this.database.rows<Usage>(USAGE);
  }

  /**
   * Updates the explanations of runs that have been pending for `EXPLAIN_AFTER_SECONDS`. Free capacity
   * changes with every run and the queue can be long, so a change of free capacity alone updates only the
   * first `NEXT_RUNS` runs.
   */
  async explain(pending: readonly PendingRun[]): Promise<void> {
    await this.database.execute(sql`
      WITH candidates AS (
        SELECT run.id, run.preferred_groups, run.impact, ${NEEDS_ENGINE} AS needs_engine, given.blocker_id
        FROM unnest(${pending.map(({ id }) => id)}::bigint[],
          ${pending.map(({ blockerId }) => blockerId)}::bigint[]) AS given(id, blocker_id)
        JOIN unified_jobs run ON run.id = given.id
        WHERE run.created < now() - make_interval(secs => ${EXPLAIN_AFTER_SECONDS})
      ), group_states AS MATERIALIZED (${groupStates(USAGE)}), explained AS (
        SELECT run.id, row_number() OVER (PARTITION BY run.blocker_id IS NULL ORDER BY run.id) AS place,
          CASE WHEN blocker.id IS NOT NULL
            THEN ${waitingFor('blocker.type', 'blocker.id')}
          WHEN run.needs_engine AND NOT preferred.has_engine THEN ${NO_ENGINE} || (
            SELECT environment ->> 'name' FROM unified_jobs own WHERE own.id = run.id)
            || '".' || ${GROUP_STATES} || preferred.texts || '.'
          ELSE format('%s It needs %s fork%s on one instance.', ${NO_CAPACITY}::text, run.impact,
              CASE WHEN run.impact > 1 THEN 's' END)
            || ${GROUP_STATES} || preferred.texts || '.' END AS text
        FROM candidates run LEFT JOIN unified_jobs blocker ON blocker.id = run.blocker_id
        CROSS JOIN LATERAL (
          SELECT bool_or(has_engine) AS has_engine,
            string_agg(text, ', ' ORDER BY array_position(run.preferred_groups, id)) AS texts
          FROM group_states WHERE id = ANY(run.preferred_groups)) preferred)
      UPDATE unified_jobs SET job_explanation = explained.text FROM explained
      WHERE unified_jobs.id = explained.id AND unified_jobs.status = 'pending'
        AND unified_jobs.job_explanation <> explained.text
        AND (place <= ${NEXT_RUNS} OR split_part(unified_jobs.job_explanation, ${GROUP_STATES}, 1)
          <> split_part(explained.text, ${GROUP_STATES}, 1))`);
  }

  /**
   * Returns runs whose dependencies are not determined yet. `id + 0` prevents the planner from searching
   * the runs of all projects for the last sync of a project.
   */
  unresolved(limit: number): Promise<UnresolvedRun[]> {
    return this.database.rows<UnresolvedRun & Row>(sql`
      WITH unsettled AS (
        SELECT id, type, inventory_id, coalesce(project_id, source_project_id) AS project_id
        FROM unified_jobs
        WHERE type IN ('job', 'inventory_update') AND status = 'pending' AND NOT dependencies_processed
        ORDER BY id LIMIT ${limit})
      SELECT job.id, job.type, job.inventory_id, job.project_id,
        coalesce(project.scm_type, '') <> '' AND (
          job.type = 'job' AND project.scm_revision = ''
          OR latest.status IN ('pending', 'waiting', 'running')
          OR project.scm_update_on_launch AND (
            latest.status IS DISTINCT FROM 'successful'
            OR latest.finished + make_interval(secs => project.scm_update_cache_timeout) < now()
          )) AS wants_sync,
        CASE WHEN latest.status IN ('pending', 'waiting', 'running') THEN latest.id END
          AS active_update_id
      FROM unsettled job
      LEFT JOIN (${projectSources()}) project ON project.id = job.project_id
      LEFT JOIN LATERAL (
        SELECT id, status, finished FROM unified_jobs
        WHERE type = 'project_update' AND unified_job_template_id = project.id
          AND launch_type <> 'sync' AND status <> 'new'
        ORDER BY id + 0 DESC LIMIT 1) latest ON true
      ORDER BY job.id`);
  }

  /** Stores the dependencies of runs and the groups that they prefer. */
  async storeDependencies(resolved: readonly ResolvedRun[]): Promise<void> {
    const dependencies = resolved.map(({ projectUpdateId, inventoryUpdateIds }) =>
      JSON.stringify([
        ...(projectUpdateId === null ? [] : [projectUpdateId]),
        ...inventoryUpdateIds,
      ]),
    );
    await this.database.execute(sql`
      UPDATE unified_jobs SET dependencies_processed = true,
        preferred_groups = ${groupsOfRun('unified_jobs')}, impact = ${impactOfRun('unified_jobs')},
        depends_on = CASE WHEN given.depends_on = '[]' THEN unified_jobs.depends_on
          ELSE given.depends_on::json END,
        project_update_id = CASE WHEN type = 'job'
          THEN coalesce(given.update_id, project_update_id) END
      FROM unnest(${resolved.map(({ id }) => id)}::bigint[], ${dependencies}::text[],
        ${resolved.map(({ projectUpdateId }) => projectUpdateId)}::bigint[])
        AS given(id, depends_on, update_id)
      WHERE unified_jobs.id = given.id`);
  }

  /** Returns pending runs whose dependency did not succeed, each with the first such dependency. */
  broken(): Promise<BrokenJob[]> {
    return this.database.rows<BrokenJob>(sql`
      SELECT DISTINCT ON (job.id) job.id, dependency.status, dependency.type, dependency.name,
        dependency.id AS dependency_id
      FROM unified_jobs job
      CROSS JOIN LATERAL json_array_elements_text(job.depends_on) AS wanted(id)
      JOIN unified_jobs dependency ON dependency.id = wanted.id::bigint
      WHERE job.status = 'pending'
        AND job.depends_on::text <> '[]' AND dependency.status IN ('failed', 'error', 'canceled')
      ORDER BY job.id, dependency.id`);
  }
}
