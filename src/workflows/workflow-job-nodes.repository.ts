import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { NodeOfWorkflow, WorkflowNodes } from '../notifications/workflow-nodes.js';
import type { Prompts } from '../prompts/launch-options.js';
import type { RunWorkflows } from '../runs/run-causes.js';
import { allRuns } from '../runs/runs.repository.js';
import type { JobStatus } from '../runs/unified-job.entity.js';
import { templateNames } from '../templates/templates.repository.js';
import type { Edge, EdgeKind } from './workflow-rows.service.js';
import { WorkflowJobNode } from './workflow-job-node.entity.js';

/** A node with its run and its children, for lists of nodes. */
export interface NodeFacts extends Row {
  node_id: number;
  success_nodes: number[];
  failure_nodes: number[];
  always_nodes: number[];
}

export interface NodeOnPage {
  id: number;
  identifier: string;
  outcome: string;
  template_type: string | null;
  /** Name of the template; null without permission to read it. */
  template_name: string | null;
  run_id: number | null;
  run_type: string | null;
  run_name: string | null;
  /** Explanation of the node's run; null without permission to read the run. */
  explanation: string | null;
  status: string | null;
  may_read_run: boolean;
  may_decide: boolean;
}

/** State of a node: the status of its run, or its outcome without a run. */
export interface NodeState extends Row {
  job: number | null;
  status: string;
}

/** A node of an earlier workflow job, with its prompts. */
export interface FormerNode extends Row {
  unified_job_template_id: number | null;
  identifier: string;
  extra_data: Record<string, unknown>;
  prompts: Prompts;
  all_parents_must_converge: boolean;
  parents: { identifier: string; kind: EdgeKind }[];
  credentials: number[];
  labels: number[];
  instance_groups: number[];
}

/** The nodes of workflow jobs, for lists and for updates by their runs. */
@Injectable()
export class WorkflowJobNodesRepository
  extends TableRepository<Row>
  implements RunWorkflows, WorkflowNodes
{
  constructor(@InjectRepository(WorkflowJobNode) repository: Repository<WorkflowJobNode>) {
    super(repository);
  }

  nodesOfRuns(): Sql {
    return sql`SELECT id, job_id, workflow_job_id FROM workflow_job_nodes`;
  }

  nodesOf(runs: readonly number[]): Promise<NodeOfWorkflow[]> {
    return this.database.preparedRows<NodeOfWorkflow>(sql`
      SELECT node.workflow_job_id AS run, node.id AS node, CASE WHEN run.id IS NOT NULL THEN
        json_build_object('id', run.id, 'name', run.name, 'status', run.status) END AS job
      FROM workflow_job_nodes node LEFT JOIN (${allRuns()}) run ON run.id = node.job_id
      WHERE node.workflow_job_id = ANY(${runs}::bigint[]) ORDER BY node.id`);
  }

  facts(ids: readonly number[], actor: Actor): Promise<NodeFacts[]> {
    return this.database.preparedRows<NodeFacts>(sql`
      SELECT n.id AS node_id, job.type AS job_type, job.id, job.name, job.description, job.status,
        job.failed, job.elapsed, job.canceled_on, job.timed_out,
        (${permit(resource('unified_job').policy, 'read', 'job', actor)}) AS may_read_job,
        ${children('success')} AS success_nodes, ${children('failure')} AS failure_nodes,
        ${children('always')} AS always_nodes
      FROM workflow_job_nodes n
      LEFT JOIN (${allRuns()}) job ON job.id = n.job_id
      WHERE n.id = ANY(${ids}::bigint[])`);
  }

  /** Returns the nodes of a workflow job for its page, with the caller's permissions. */
  onPage(workflowJobId: number, actor: Actor): Promise<NodeOnPage[]> {
    const may = (type: string, action: string, alias: string): Sql =>
      permit(resource(type).policy, action, alias, actor);
    return this.database.rows<NodeOnPage>(sql`
      SELECT node.id, node.identifier, node.outcome, tpl.type AS template_type,
        CASE WHEN ${may('unified_job_template', 'read', 'tpl')} THEN tpl.name END AS template_name,
        run.id AS run_id, run.type AS run_type, run.name AS run_name, run.status,
        CASE WHEN ${may('unified_job', 'read', 'run')} THEN run.job_explanation END AS explanation,
        coalesce(${may('unified_job', 'read', 'run')}, false) AS may_read_run,
        coalesce(run.type = 'workflow_approval' AND run.status = 'pending'
          AND ${may('workflow_approval', 'approve', 'run')}, false) AS may_decide
      FROM workflow_job_nodes node
      LEFT JOIN (${templateNames()}) tpl ON tpl.id = node.unified_job_template_id
      LEFT JOIN (${allRuns()}) run ON run.id = node.job_id
      WHERE node.workflow_job_id = ${workflowJobId} ORDER BY node.id`);
  }

  edges(workflowJobId: number): Promise<Edge[]> {
    return this.database.rows(sql`
      SELECT edge.parent_id AS "from", edge.child_id AS "to", edge.kind
      FROM workflow_job_node_edges edge JOIN workflow_job_nodes node ON node.id = edge.child_id
      WHERE node.workflow_job_id = ${workflowJobId} ORDER BY edge.parent_id, edge.child_id`);
  }

  states(workflowJobId: number): Promise<NodeState[]> {
    return this.database.rows<NodeState>(sql`
      SELECT node.id, node.job_id AS job, coalesce(run.status, node.outcome) AS status
      FROM workflow_job_nodes node LEFT JOIN (${allRuns()}) run ON run.id = node.job_id
      WHERE node.workflow_job_id = ${workflowJobId} ORDER BY node.id`);
  }

  /** Returns the original nodes of a workflow job, for a relaunch. */
  former(workflowJobId: number): Promise<FormerNode[]> {
    return this.database.rows<FormerNode>(sql`
      SELECT n.*,
        ARRAY(SELECT credential_id FROM workflow_job_node_credentials
          WHERE workflow_job_node_id = n.id ORDER BY id) AS credentials,
        ARRAY(SELECT label_id FROM workflow_job_node_labels
          WHERE workflow_job_node_id = n.id ORDER BY id) AS labels,
        ARRAY(SELECT instance_group_id FROM workflow_job_node_instance_groups
          WHERE workflow_job_node_id = n.id ORDER BY id) AS instance_groups,
        (SELECT coalesce(json_agg(json_build_object(
            'identifier', parent.identifier, 'kind', edge.kind) ORDER BY parent.id), '[]')
          FROM workflow_job_node_edges edge
          JOIN workflow_job_nodes parent ON parent.id = edge.parent_id
          WHERE edge.child_id = n.id) AS parents
      FROM workflow_job_nodes n WHERE n.workflow_job_id = ${workflowJobId} ORDER BY n.id`);
  }

  /** Stores the outcomes of nodes whose runs have ended. */
  async storeOutcomes(runs: readonly { jobId: number; status: JobStatus }[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET outcome = given.status, modified = now()
      FROM unnest(${runs.map(({ jobId }) => jobId)}::bigint[],
        ${runs.map(({ status }) => status)}::text[]) AS given (job_id, status)
      WHERE node.job_id = given.job_id AND node.outcome = ''`);
  }

  /** Stores the outcome `skipped` of all unstarted nodes of workflow jobs. */
  async skipUnstarted(workflowJobIds: readonly number[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes
      SET outcome = 'skipped', do_not_run = true, followed = true, modified = now()
      WHERE workflow_job_id = ANY(${workflowJobIds}::bigint[]) AND outcome = '' AND job_id IS NULL`);
  }
}

const children = (kind: EdgeKind): Sql => sql`
  ARRAY(SELECT child_id FROM workflow_job_node_edges
    WHERE parent_id = n.id AND kind = ${kind} ORDER BY child_id)`;
