import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { Prompts } from '../prompts/launch-options.js';
import type { LaunchConfig } from '../prompts/launch-secrets.js';
import { allRuns } from '../runs/runs.repository.js';
import { templateNames, templateVariables } from '../templates/templates.repository.js';
import type { NodeWithArtifacts, RunWithArtifacts } from './inherited-artifacts.js';
import { type NodeOutcome, WorkflowJobNode } from './workflow-job-node.entity.js';
import type { EdgeKind } from './workflow-rows.service.js';

/** A node with the data for the workflow rules. */
export interface GraphNode {
  id: number;
  identifier: string;
  /** Outcome; empty while the node is not finished. */
  outcome: NodeOutcome | '';
  /** True if the node was started. If the node has no outcome, its run is active. */
  hasStarted: boolean;
  /** True if the template of the node exists and can be launched. */
  canStart: boolean;
  /** True if every incoming edge must match, false if one is sufficient. */
  mustConverge: boolean;
  parents: readonly { id: number; kind: EdgeKind }[];
  /** Number of bytes of the prompts of the node and of the variables of its template. */
  size: number;
}

interface NodeOfWorkflow extends GraphNode {
  workflowJobId: number;
}

/** A node that is about to start, with the launch data of its workflow job. */
export interface DueNode extends Row {
  workflow_job_id: number;
  identifier: string;
  prompts: Prompts;
  template_id: number;
  template_type: string;
  template_name: string;
  is_bulk_job: boolean;
  created_by_id: number | null;
  launch_config: LaunchConfig | null;
  webhook_delivery_id: number | null;
  /** Position of the node in a sliced job; null for other workflow jobs. */
  slice: { number: number; count: number } | null;
}

/** A node that is about to start, with its parents. */
export interface StartingNode extends DueNode {
  /** Size of the artifacts of the parents, in bytes. */
  bytes: number;
  parents: NodeWithArtifacts[] | null;
}

/** A node with its new run and its inherited artifacts. */
export interface StartedNode {
  id: number;
  runId: number;
  /** Artifacts as JSON text. */
  artifacts: string;
  /** Secret artifacts, sealed. */
  secret: string;
}

/** Size of the artifacts of all runs of a workflow job, in bytes. */
export interface ArtifactSize extends Row {
  id: number;
  bytes: number;
}

/**
 * Maximum size of artifacts that are read together, in bytes. Many runs can pass on the same artifacts. The
 * worker needs ten times their size of memory, and without it stops all workflows.
 */
export const MAX_READ_BYTES = 60_000_000;

/** Size of the artifacts of `run`, in bytes. */
const BYTES_OF_RUN = sql`
  coalesce(octet_length(run.artifacts::text), 0) + coalesce(octet_length(run.secret_artifacts), 0)`;

/** The nodes of active workflow jobs, for the workflow engine. */
@Injectable()
export class WorkflowGraphsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(WorkflowJobNode) repository: Repository<WorkflowJobNode>) {
    super(repository);
  }

  /**
   * Returns workflow jobs with ended nodes that are not marked as followed.
   *
   * @param limit maximum number of workflow jobs
   * @param except workflow jobs to leave out
   */
  due(limit: number, except: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      SELECT DISTINCT workflow_job_id AS id FROM workflow_job_nodes
      WHERE outcome <> '' AND NOT followed AND workflow_job_id <> ALL(${except}::bigint[])
      ORDER BY workflow_job_id LIMIT ${limit}`);
  }

  /** Marks the ended nodes of workflow jobs as followed. */
  async follow(workflowJobIds: readonly number[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes SET followed = true
      WHERE outcome <> '' AND NOT followed AND workflow_job_id = ANY(${workflowJobIds}::bigint[])`);
  }

  /**
   * Returns the workflow jobs with nodes that have not started and whose template, or its project, is
   * being deleted. Locks the templates and projects of the other nodes against deletion.
   */
  locked(workflowJobIds: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      WITH waiting AS (
        SELECT id, workflow_job_id, unified_job_template_id FROM workflow_job_nodes
        WHERE workflow_job_id = ANY(${workflowJobIds}::bigint[]) AND job_id IS NULL AND outcome = ''
          AND unified_job_template_id IS NOT NULL),
      free AS (
        SELECT waiting.id FROM waiting
        JOIN (${templateNames()}) tpl ON tpl.id = waiting.unified_job_template_id
        JOIN (${templateNames()}) prj ON prj.id = coalesce(tpl.project_id, tpl.id)
        FOR KEY SHARE OF tpl, prj SKIP LOCKED)
      SELECT DISTINCT workflow_job_id AS id FROM waiting WHERE id NOT IN (SELECT id FROM free)`);
  }

  nodes(workflowJobIds: readonly number[]): Promise<NodeOfWorkflow[]> {
    return this.database.rows<NodeOfWorkflow>(sql`
      SELECT node.id, node.workflow_job_id AS "workflowJobId", node.identifier, node.outcome,
        node.job_id IS NOT NULL AS "hasStarted",
        node.all_parents_must_converge AS "mustConverge",
        coalesce(tpl.type IN ('job_template', 'workflow_job_template', 'workflow_approval_template',
            'inventory_source', 'system_job_template')
          OR tpl.type = 'project' AND tpl.scm_type <> '', false) AS "canStart",
        (SELECT coalesce(json_agg(json_build_object('id', parent_id, 'kind', kind)), '[]')
          FROM workflow_job_node_edges WHERE child_id = node.id) AS parents,
        octet_length(node.prompts::text) + coalesce(octet_length(own.extra_vars), 0) AS size
      FROM workflow_job_nodes node
      LEFT JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      LEFT JOIN (${templateVariables()}) own ON own.id = tpl.id
      WHERE node.workflow_job_id = ANY(${workflowJobIds}::bigint[]) ORDER BY node.id`);
  }

  /**
   * Returns nodes that are about to start, with their parents in the order of ids; null for parents whose
   * artifacts, together with those of the nodes before, are too large to be read.
   */
  starting(ids: readonly number[]): Promise<StartingNode[]> {
    return this.database.rows(sql`
      SELECT node.id, node.workflow_job_id, node.identifier, node.prompts,
        tpl.id AS template_id, tpl.type AS template_type, tpl.name AS template_name,
        workflow.is_bulk_job, workflow.created_by_id, workflow.launch_config,
        workflow.webhook_delivery_id,
        CASE WHEN workflow.is_sliced_job THEN (
          SELECT json_build_object('number', count(*) FILTER (WHERE other.id <= node.id),
            'count', count(*))
          FROM workflow_job_nodes other WHERE other.workflow_job_id = workflow.id) END AS slice,
        size.bytes, CASE WHEN sum(size.bytes) OVER (ORDER BY node.id) <= ${MAX_READ_BYTES}
        THEN (
          SELECT coalesce(json_agg(json_build_object('node_id', parent.id,
              'ancestor_artifacts', parent.ancestor_artifacts,
              'node_secrets', parent.secret_artifacts, 'run_id', run.id,
              'artifacts', run.artifacts, 'secret_artifacts', run.secret_artifacts)
            ORDER BY parent.id), '[]')
          ${parentsOf('node')}) END AS parents
      FROM workflow_job_nodes node
      JOIN (${allRuns()}) workflow ON workflow.id = node.workflow_job_id
      JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(octet_length(parent.ancestor_artifacts::text)
          + octet_length(parent.secret_artifacts) + ${BYTES_OF_RUN}), 0) AS bytes
        ${parentsOf('node')}) size
      WHERE node.id = ANY(${ids}::bigint[]) ORDER BY node.id`);
  }

  /** Stores the new runs of nodes. */
  async linkRuns(nodes: readonly StartedNode[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET job_id = given.job_id, modified = now(),
        ancestor_artifacts = given.artifacts, secret_artifacts = given.secret
      FROM unnest(${nodes.map(({ id }) => id)}::bigint[], ${nodes.map(({ runId }) => runId)}::bigint[],
        ${nodes.map(({ artifacts }) => artifacts)}::json[],
        ${nodes.map(({ secret }) => secret)}::text[])
        AS given (id, job_id, artifacts, secret)
      WHERE node.id = given.id`);
  }

  /**
   * Stores the end of nodes that have no run.
   *
   * @param followed true if the consequences for their child nodes are already decided
   */
  async end(ended: ReadonlyMap<number, 'missing' | 'skipped'>, followed: boolean): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET outcome = given.outcome, followed = ${followed},
        do_not_run = given.outcome = 'skipped', modified = now()
      FROM unnest(${[...ended.keys()]}::bigint[], ${[...ended.values()]}::text[])
        AS given (id, outcome)
      WHERE node.id = given.id`);
  }

  /** Returns the active runs of workflow jobs that have no cancel request. */
  activeRuns(workflowJobIds: readonly number[]): Promise<number[]> {
    return this.database.ids(sql`
      SELECT run.id FROM workflow_job_nodes node JOIN (${allRuns()}) run ON run.id = node.job_id
      WHERE node.workflow_job_id = ANY(${workflowJobIds}::bigint[])
        AND node.outcome = '' AND NOT run.cancel_requested`);
  }

  /** Returns the sizes of the artifacts of nested workflow jobs whose runs have artifacts. */
  artifactSizes(workflowJobIds: readonly number[]): Promise<ArtifactSize[]> {
    return this.database.rows(sql`
      SELECT node.workflow_job_id AS id, sum(${BYTES_OF_RUN})::bigint AS bytes
      ${nodesWithArtifacts()}
        AND node.workflow_job_id IN (
          SELECT around.job_id FROM workflow_job_nodes around
          WHERE around.job_id = ANY(${workflowJobIds}::bigint[]))
      GROUP BY node.workflow_job_id`);
  }

  /** Returns the runs of a workflow job that have artifacts, in the order of their ends. */
  runsWithArtifacts(workflowJobId: number): Promise<(Row & RunWithArtifacts)[]> {
    return this.database.rows(sql`
      SELECT run.id, run.id AS run_id, run.artifacts, run.secret_artifacts
      ${nodesWithArtifacts()} AND node.workflow_job_id = ${workflowJobId}
      ORDER BY run.finished, node.id`);
  }
}

/** Returns the FROM clause for nodes whose `run` has artifacts. */
const nodesWithArtifacts = (): Sql => sql`
  FROM workflow_job_nodes node JOIN (${allRuns()}) run ON run.id = node.job_id
  WHERE (json_typeof(run.artifacts) = 'object' AND run.artifacts::text <> '{}'
    OR run.secret_artifacts <> '')`;

/** Returns the FROM clause for the parents of a node: `parent`, and its `run` if it had one. */
const parentsOf = (node: string): Sql => sql`
  FROM workflow_job_node_edges edge
  JOIN workflow_job_nodes parent ON parent.id = edge.parent_id
  LEFT JOIN (${allRuns()}) run ON run.id = parent.job_id
  WHERE edge.child_id = ${ident(node, 'id')}`;
