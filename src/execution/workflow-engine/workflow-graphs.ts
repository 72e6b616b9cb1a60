import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { entryOf } from '../../common/invariants.js';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { sealArtifacts } from '../../runs/handed-artifacts.js';
import { handedByRuns, type HandingRun } from '../../workflows/inherited-artifacts.js';
import type { Decision, GraphNode } from './workflow-graph.js';

interface WorkflowRow extends Row {
  cancel_requested: boolean;
  launch_config: object | null;
}

/** A workflow job that goes on, with its nodes. */
export interface RunningWorkflow extends WorkflowRow {
  nodes: GraphNode[];
}

/** A run inside a workflow job that runs inside another one. */
interface NestedRunRow extends HandingRun {
  workflow_job_id: number;
}

interface NodeRow extends GraphNode {
  workflowJobId: number;
}

/** Reads the graphs of running workflow jobs and writes what was decided about their nodes. */
@Injectable()
export class WorkflowGraphs {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * Workflow jobs of which nodes have ended since the last call; these count as looked at from now on.
   *
   * @param most workflow jobs taken at once
   */
  async due(most: number): Promise<number[]> {
    const rows = await this.database.rows<{ id: number }>(sql`
      WITH followed AS (
        UPDATE workflow_job_nodes SET followed = true
        WHERE outcome <> '' AND NOT followed AND workflow_job_id IN (
          SELECT DISTINCT workflow_job_id FROM workflow_job_nodes
          WHERE outcome <> '' AND NOT followed ORDER BY workflow_job_id LIMIT ${most})
        RETURNING workflow_job_id)
      SELECT DISTINCT workflow_job_id AS id FROM followed`);
    return rows.map(({ id }) => id);
  }

  /** The running ones among `ids`, and all that somebody wants canceled. */
  async load(ids: readonly number[]): Promise<RunningWorkflow[]> {
    const workflows = await this.database.rows<WorkflowRow>(sql`
      SELECT id, cancel_requested, launch_config FROM unified_jobs
      WHERE type = 'workflow_job' AND status = 'running'
        AND (id = ANY(${ids}::int[]) OR cancel_requested)
      ORDER BY id`);
    if (workflows.length === 0) return [];
    const byId = new Map(
      workflows.map((workflow): [number, RunningWorkflow] => [
        workflow.id,
        { ...workflow, nodes: [] },
      ]),
    );
    for (const node of await this.nodes([...byId.keys()])) {
      entryOf(byId, node.workflowJobId).nodes.push(node);
    }
    return [...byId.values()];
  }

  private nodes(workflowIds: readonly number[]): Promise<NodeRow[]> {
    return this.database.rows<NodeRow>(sql`
      SELECT node.id, node.workflow_job_id AS "workflowJobId", node.identifier, node.outcome,
        node.job_id IS NOT NULL AS "hasStarted",
        node.all_parents_must_converge AS "mustConverge",
        coalesce(tpl.type IN ('job_template', 'workflow_job_template', 'workflow_approval_template')
          OR tpl.type = 'project' AND tpl.scm_type <> '', false) AS "canStart",
        (SELECT coalesce(json_agg(json_build_object('id', parent_id, 'kind', kind)), '[]')
          FROM workflow_job_node_edges WHERE child_id = node.id) AS parents
      FROM workflow_job_nodes node
      LEFT JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
      WHERE node.workflow_job_id = ANY(${workflowIds}::int[]) ORDER BY node.id`);
  }

  /**
   * Writes the end of nodes that have no run.
   *
   * @param followed what comes of it for the nodes after them is decided already
   */
  async end(ended: Decision['ended'], followed: boolean): Promise<void> {
    if (ended.size === 0) return;
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET outcome = given.outcome, followed = ${followed},
        do_not_run = given.outcome = 'skipped', modified = now()
      FROM unnest(${[...ended.keys()]}::int[], ${[...ended.values()]}::text[])
        AS given (id, outcome)
      WHERE node.id = given.id`);
  }

  /**
   * What the runs of workflow jobs that are over handed on; a workflow around them hands it further.
   *
   * @returns workflow jobs with secrets that cannot be opened with the present keys: nothing of theirs goes on
   */
  async gatherArtifacts(workflowIds: readonly number[]): Promise<Set<number>> {
    const runs = await this.handingRuns(workflowIds);
    const locked = new Set<number>();
    const gathered = [...new Set(runs.map((run) => run.workflow_job_id))].flatMap((id) => {
      const artifacts = handedByRuns(
        this.box,
        runs.filter((run) => run.workflow_job_id === id),
      );
      if (!artifacts) locked.add(id);
      return artifacts ? [{ id, ...artifacts }] : [];
    });
    if (gathered.length > 0) {
      await this.database.execute(sql`
        UPDATE unified_jobs workflow SET artifacts = given.artifacts, secret_artifacts = given.secret
        FROM unnest(${gathered.map(({ id }) => id)}::int[],
          ${gathered.map(({ open }) => JSON.stringify(open))}::json[],
          ${gathered.map(({ id, secret }) =>
            sealArtifacts(this.box, 'unified_jobs', id, secret),
          )}::text[]) AS given (id, artifacts, secret)
        WHERE workflow.id = given.id`);
    }
    return locked;
  }

  /** Runs that hand something on beyond their workflow job, in the order of their nodes. */
  private async handingRuns(workflowIds: readonly number[]): Promise<NestedRunRow[]> {
    if (workflowIds.length === 0) return [];
    return this.database.rows<NestedRunRow & Row>(sql`
      SELECT node.workflow_job_id, run.id, run.id AS run_id, run.artifacts, run.secret_artifacts
      FROM workflow_job_nodes node
      JOIN unified_jobs run ON run.id = node.job_id
      WHERE node.workflow_job_id IN (
          SELECT around.job_id FROM workflow_job_nodes around
          WHERE around.job_id = ANY(${workflowIds}::int[]))
        AND (json_typeof(run.artifacts) = 'object' AND run.artifacts::text <> '{}'
          OR run.secret_artifacts <> '')
      ORDER BY node.id`);
  }
}
