import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { existing } from '../common/invariants.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { takeIds, type ColumnValues } from '../database/rows.js';
import { ident, join, raw, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allLabels } from '../labels/labels.repository.js';
import { PROMPT_LISTS, type PromptList } from '../prompts/launch-options.js';
import type { LaunchConfig } from '../prompts/launch-secrets.js';
import { EXPLAIN_AFTER_SECONDS, waitingFor } from '../runs/run-explanations.js';
import type { NewRun } from '../runs/run-states.repository.js';
import { templateNames } from '../templates/templates.repository.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';

/** A node and an object of one of its list prompts. */
export type NodeLink = readonly [node: number, object: number];

/** Rows of workflow jobs and of all dependent tables. */
export interface WorkflowJobRows {
  jobs: readonly ColumnValues[];
  nodes: readonly ColumnValues[];
  edges: readonly ColumnValues[];
  labels: readonly ColumnValues[];
  lists: Readonly<Record<PromptList, readonly NodeLink[]>>;
}

/** Ids of rows to be inserted. */
export interface WorkflowJobIds {
  jobs: number[];
  nodes: number[];
}

/** Data of an approval besides its columns. */
export interface WorkflowApprovalFacts extends Row {
  may_approve: boolean;
  expires: string | null;
  workflow_job_id: number | null;
  /** Kind of the waiting run. */
  run_type: string | null;
  workflow_template: object | null;
  approval_template: object | null;
}

export interface RunningWorkflowJob extends Row {
  cancel_requested: boolean;
  launch_config: LaunchConfig | null;
}

export interface StoredArtifacts {
  id: number;
  /** Artifacts as JSON text. */
  artifacts: string;
  /** Secret artifacts, sealed. */
  secret: string;
}

/** Link tables of the list prompts of nodes, with the column of the linked object. */
const LISTS = {
  credentials: ['workflow_job_node_credentials', 'credential_id'],
  labels: ['workflow_job_node_labels', 'label_id'],
  instance_groups: ['workflow_job_node_instance_groups', 'instance_group_id'],
} as const satisfies Record<PromptList, readonly [string, string]>;

/**
 * SQL of every pending workflow job with the workflow job that blocks it: another run of the same template,
 * unless simultaneous runs are allowed. Workflow jobs of bulk launches have no template and block no other run
 * (docs/contract/runs.md#blocking).
 */
const CANDIDATES = raw(`
  lines AS (
    SELECT id, type, status, created, job_explanation,
      allow_simultaneous OR unified_job_template_id IS NULL AS may_overlap,
      min(id) FILTER (WHERE status = 'running') OVER template AS running_id,
      min(id) OVER template AS first_id
    FROM unified_jobs WHERE type = 'workflow_job' AND status IN ('pending', 'running')
    WINDOW template AS (PARTITION BY unified_job_template_id)
  ), candidates AS (
    SELECT id, type, created, job_explanation,
      CASE WHEN NOT may_overlap THEN coalesce(running_id, nullif(first_id, id)) END AS blocker_id
    FROM lines WHERE status = 'pending')`);

/** SQL condition that the timeout of the approval `run` has passed, by the clock of the database. */
export const IS_EXPIRED = raw(
  '(run.timeout > 0 AND run.created + make_interval(secs => run.timeout) <= now())',
);

/** Returns a query for `WorkflowApprovalFacts`. Readers of an approval can read the workflow's template. */
export function approvalFacts(ids: readonly number[], actor: Actor): Sql {
  const { policy } = resource('workflow_approval');
  return sql`
    SELECT run.id, run.workflow_job_id, workflow.type AS run_type,
      run.status = 'pending' AND NOT ${IS_EXPIRED}
        AND (${permit(policy, 'approve', 'run', actor)}) AS may_approve,
      CASE WHEN run.status = 'pending' AND run.timeout > 0
        THEN run.created + make_interval(secs => run.timeout) END AS expires,
      CASE WHEN tpl.id IS NOT NULL THEN json_build_object('id', tpl.id, 'name', tpl.name,
        'description', tpl.description, 'timeout', tpl.timeout) END AS approval_template,
      CASE WHEN wft.type = 'workflow_job_template' THEN json_build_object('id', wft.id, 'name', wft.name,
        'description', wft.description) END AS workflow_template
    FROM unified_jobs run
    LEFT JOIN (${templateNames()}) tpl ON tpl.id = run.unified_job_template_id
    LEFT JOIN unified_jobs workflow ON workflow.id = run.workflow_job_id
    LEFT JOIN (${templateNames()}) wft ON wft.id = workflow.unified_job_template_id
    WHERE run.id = ANY(${ids}::bigint[])`;
}

/** Workflow jobs and approvals. */
@Injectable()
export class WorkflowJobsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /** Reserves ids of jobs and nodes, which encrypted secrets and edges contain before the insert. */
  async takeIdsOf(jobs: number, nodes: number): Promise<WorkflowJobIds> {
    const row = await this.database.preparedRow<WorkflowJobIds & Row>(sql`
      SELECT ARRAY(${takeIds('unified_jobs', jobs)}) AS jobs,
        ARRAY(${takeIds('workflow_job_nodes', nodes)}) AS nodes`);
    return existing(row, 'a SELECT without FROM has a row');
  }

  /**
   * Inserts workflow jobs and their dependent rows in one statement.
   *
   * @returns the rows of the jobs
   */
  insertAll({ jobs, nodes, edges, labels, lists }: WorkflowJobRows): Promise<Row[]> {
    const links = PROMPT_LISTS.map((field) => {
      const [table, column] = LISTS[field];
      const rows = lists[field].map(([node, object]) => ({
        workflow_job_node_id: node,
        [column]: object,
      }));
      return [table, rows] as const;
    });
    const parts = [
      ['workflow_job_nodes', nodes] as const,
      ['workflow_job_node_edges', edges] as const,
      ['workflow_job_labels', labels] as const,
      ...links,
    ].flatMap(([table, rows]) =>
      rows.length === 0 ? [] : sql`${ident(`new_${table}`)} AS (${this.insertion(rows, table)})`,
    );
    return this.database.preparedRows<Row>(sql`
      WITH ${join([sql`job AS (${this.insertion(jobs)} RETURNING *)`, ...parts])}
      SELECT * FROM job`);
  }

  /**
   * Inserts the approvals of nodes, except of nodes whose template is being deleted.
   *
   * @param ids id of the approval by node
   */
  insertApprovals(nodeIds: readonly number[], ids: readonly number[]): Promise<NewRun[]> {
    return this.database.rows(sql`
      INSERT INTO unified_jobs (id, type, name, description, unified_job_template_id,
        workflow_job_id, organization_id, launch_type, status, timeout, created_by_id,
        modified_by_id)
      SELECT given.id, 'workflow_approval', tpl.name, tpl.description, tpl.id, workflow.id,
        workflow.organization_id, 'workflow', 'pending', tpl.timeout, workflow.created_by_id,
        workflow.created_by_id
      FROM unnest(${ids}::bigint[], ${nodeIds}::bigint[]) AS given (id, node_id)
      JOIN workflow_job_nodes node ON node.id = given.node_id
      JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
      JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      FOR KEY SHARE OF tpl
      RETURNING id, type, status, unified_job_template_id`);
  }

  /** Inserts the approvals that runs wait for before their start, and updates the runs' explanations. */
  insertHolds(runIds: readonly number[], name: string): Promise<NewRun[]> {
    return this.database.rows<NewRun>(sql`
      WITH approval AS (
        INSERT INTO unified_jobs (type, name, description, workflow_job_id, organization_id,
          launch_type, status, timeout)
        SELECT 'workflow_approval', ${name}, run.name, run.id, run.organization_id,
          run.launch_type, 'pending', 0
        FROM unified_jobs run WHERE run.id = ANY(${runIds}::bigint[])
        RETURNING id, type, status, unified_job_template_id, workflow_job_id)
      UPDATE unified_jobs run
      SET job_explanation = ${waitingFor('approval.type', 'approval.id')}
      FROM approval WHERE run.id = approval.workflow_job_id
      RETURNING approval.id, approval.type, approval.status, approval.unified_job_template_id`);
  }

  /** Returns the pending approvals of some runs: of their steps, or before their start. */
  pendingApprovalsOf(runIds: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM unified_jobs
      WHERE workflow_job_id = ANY(${runIds}::bigint[]) AND type = 'workflow_approval'
        AND status = 'pending'`);
  }

  /** Returns true if an approval of a run was not granted. Steps also count, so the run must be unstarted. */
  async lacksApproval(runId: number): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM unified_jobs
      WHERE workflow_job_id = ${runId} AND type = 'workflow_approval' AND status <> 'successful'`);
  }

  async hasStarted(runId: number): Promise<boolean> {
    return this.database.exists(sql`
      SELECT 1 FROM unified_jobs WHERE id = ${runId} AND started IS NOT NULL`);
  }

  /** Returns approvals that were not decided in time, by the database's clock. */
  expiredApprovals(): Promise<(Row & { name: string; timeout: number })[]> {
    return this.database.rows(sql`
      SELECT id, name, timeout FROM unified_jobs run
      WHERE type = 'workflow_approval' AND status = 'pending' AND ${IS_EXPIRED}`);
  }

  pendingApprovals(templateId: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM unified_jobs
      WHERE unified_job_template_id = ${templateId} AND type = 'workflow_approval'
        AND status = 'pending'`);
  }

  /**
   * Returns workflow jobs that can start, in launch order.
   *
   * @param except workflow jobs to leave out
   */
  ready(limit: number, except: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      WITH ${CANDIDATES}
      SELECT id FROM candidates WHERE blocker_id IS NULL
        AND id <> ALL(${except}::bigint[]) ORDER BY id LIMIT ${limit}`);
  }

  /** Updates the explanations of workflow jobs that have been pending for `EXPLAIN_AFTER_SECONDS`. */
  async explain(): Promise<void> {
    await this.database.execute(sql`
      WITH ${CANDIDATES}, explained AS (
        SELECT id, ${waitingFor('candidates.type', 'candidates.blocker_id')} AS text
        FROM candidates
        WHERE blocker_id IS NOT NULL
          AND created < now() - make_interval(secs => ${EXPLAIN_AFTER_SECONDS}))
      UPDATE unified_jobs SET job_explanation = explained.text FROM explained
      WHERE unified_jobs.id = explained.id AND unified_jobs.status = 'pending'
        AND unified_jobs.job_explanation <> explained.text`);
  }

  /** Returns the running workflow jobs among `ids`, and all with a cancel request. */
  running(ids: readonly number[]): Promise<RunningWorkflowJob[]> {
    return this.database.rows<RunningWorkflowJob>(sql`
      SELECT id, cancel_requested, launch_config FROM unified_jobs
      WHERE type = 'workflow_job' AND status = 'running'
        AND (id = ANY(${ids}::bigint[]) OR cancel_requested)
      ORDER BY id`);
  }

  async storeArtifacts(rows: readonly StoredArtifacts[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_jobs workflow SET artifacts = given.artifacts, secret_artifacts = given.secret
      FROM unnest(${rows.map(({ id }) => id)}::bigint[],
        ${rows.map(({ artifacts }) => artifacts)}::json[],
        ${rows.map(({ secret }) => secret)}::text[]) AS given (id, artifacts, secret)
      WHERE workflow.id = given.id`);
  }

  /** Returns the templates of each workflow job and of the workflow jobs around it, innermost first. */
  chains(ids: readonly number[]): Promise<(Row & { chain: { id: number; name: string }[] })[]> {
    return this.database.rows(sql`
      WITH RECURSIVE chain AS (
        SELECT id AS start_id, id, unified_job_template_id AS template_id, 0 AS depth
        FROM unified_jobs WHERE id = ANY(${ids}::bigint[])
        UNION ALL
        SELECT chain.start_id, outer_job.id, outer_job.unified_job_template_id, chain.depth + 1
        FROM chain
        JOIN workflow_job_nodes node ON node.job_id = chain.id
        JOIN unified_jobs outer_job ON outer_job.id = node.workflow_job_id)
      SELECT chain.start_id AS id,
        json_agg(json_build_object('id', tpl.id, 'name', tpl.name) ORDER BY chain.depth) AS chain
      FROM chain JOIN (${templateNames()}) tpl ON tpl.id = chain.template_id
      GROUP BY chain.start_id`);
  }

  /** Returns the labels of a workflow job (`own`), and the existing labels among some other ids. */
  async labelsOf(
    id: number,
    others: readonly number[],
  ): Promise<{ own: number[]; existing: number[] }> {
    return this.database.rowOrFail(sql`
      SELECT ARRAY(SELECT label_id FROM workflow_job_labels
          WHERE workflow_job_id = ${id} ORDER BY id) AS own,
        ARRAY(SELECT id FROM (${allLabels()}) label
          WHERE id = ANY(${others}::bigint[]) ORDER BY id) AS existing`);
  }
}

/** Returns a query for the ids of workflow jobs that meet a condition on `wfj`. */
export const workflowJobsWhere = (condition: Sql): Sql => sql`
  SELECT wfj.id FROM unified_jobs wfj WHERE ${condition}`;

/** Returns a query for the ids of a workflow job's approvals. */
export const approvalsOf = (workflowJobId: number): Sql => sql`
  SELECT approval.id FROM unified_jobs approval WHERE approval.workflow_job_id = ${workflowJobId}`;
