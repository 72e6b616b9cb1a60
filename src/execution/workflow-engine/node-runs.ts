import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/secret-box.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import { entryOf, zip } from '../../common/invariants.js';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { takeIds } from '../../database/rows.js';
import { sql } from '../../database/sql.js';
import { sealArtifacts } from '../../runs/handed-artifacts.js';
import type { LaunchRequest } from '../../launching/launch-request.js';
import { LaunchService } from '../../launching/launch.service.js';
import { insertProjectUpdates } from '../../launching/project-update-rows.js';
import { RunTransitions, type NewRun } from '../../runs/run-transitions.service.js';
import { insertApprovals } from '../../workflows/approval-rows.js';
import { couldNotStart, recursionText, type NamedTemplate } from './could-not-start.js';
import {
  handedByNodes,
  NOTHING_HANDED,
  type HandingNode,
} from '../../workflows/inherited-artifacts.js';
import { WorkflowLaunchService } from '../../launching/workflow-launch.service.js';
import {
  requestOf,
  type StartingNode,
  type WorkflowSecrets,
} from '../../launching/node-request.js';

const LOCKED =
  'The secret statistics of the runs before it cannot be opened with the present keys.';

/** A node as it is read, with its parents in the order of their ids. */
type NodeRow = Omit<StartingNode, 'inherited'> & { id: number; parents: HandingNode[] };

/** A run that was made, and why it cannot go on. */
interface MadeRun {
  node: StartingNode;
  id: number;
  /** Empty when it can. */
  fault: string;
}

/** Makes the runs of nodes, those of all workflow jobs together. */
@Injectable()
export class NodeRuns {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly launches: LaunchService,
    private readonly workflows: WorkflowLaunchService,
    private readonly box: SecretBox,
  ) {}

  /**
   * Starts nodes in a constant number of statements. A run that cannot go on is made all the same and
   * has failed, with the reason.
   *
   * @param secrets by workflow job
   * @returns nodes whose template was deleted at this moment: they have no run
   */
  async start(
    nodeIds: readonly number[],
    secrets: ReadonlyMap<number, WorkflowSecrets>,
  ): Promise<number[]> {
    if (nodeIds.length === 0) return [];
    const { nodes, locked } = await this.load(nodeIds);
    const of = (type: string) => nodes.filter(({ template_type }) => template_type === type);
    const requests = new Map(
      nodes.map((node) => [node, requestOf(node, entryOf(secrets, node.workflow_job_id))]),
    );
    const approvals = await this.makeApprovals(of('workflow_approval_template'));
    const made = [
      ...(await this.makeJobs(of('job_template'), requests)),
      ...(await this.makeUpdates(of('project'))),
      ...(await this.makeWorkflows(of('workflow_job_template'), requests)),
      ...approvals.made,
    ];
    await this.tie(made);
    await this.transitions.created(approvals.rows);
    await this.transitions.move(
      made.flatMap(({ id, node, fault }) => {
        const explanation = locked.has(node.id) ? LOCKED : fault;
        return explanation === '' ? [] : [{ id, explanation }];
      }),
      { from: ['pending'], to: 'failed' },
    );
    const tied = new Set(made.map(({ node }) => node.id));
    return nodeIds.filter((id) => !tied.has(id));
  }

  /** @returns nodes, and the ids of those that cannot get what was handed to them */
  private async load(
    nodeIds: readonly number[],
  ): Promise<{ nodes: StartingNode[]; locked: Set<number> }> {
    const locked = new Set<number>();
    const nodes = (await this.rows(nodeIds)).map(({ parents, ...node }) => {
      const inherited = handedByNodes(this.box, parents);
      if (!inherited) locked.add(node.id);
      return { ...node, inherited: inherited ?? NOTHING_HANDED } as StartingNode;
    });
    return { nodes, locked };
  }

  private rows(nodeIds: readonly number[]): Promise<NodeRow[]> {
    return this.database.rows<NodeRow>(sql`
      SELECT node.id, node.workflow_job_id, node.identifier, node.prompts,
        tpl.id AS template_id, tpl.type AS template_type, tpl.name AS template_name,
        workflow.is_bulk_job, workflow.created_by_id, workflow.launch_config,
        workflow.webhook_delivery_id,
        CASE WHEN workflow.is_sliced_job THEN (
          SELECT json_build_object('number', count(*) FILTER (WHERE other.id <= node.id),
            'count', count(*))
          FROM workflow_job_nodes other WHERE other.workflow_job_id = workflow.id) END AS slice,
        (SELECT coalesce(json_agg(json_build_object('node_id', parent.id,
              'ancestor_artifacts', parent.ancestor_artifacts,
              'node_secrets', parent.secret_artifacts, 'run_id', run.id,
              'artifacts', run.artifacts, 'secret_artifacts', run.secret_artifacts)
            ORDER BY parent.id), '[]')
          FROM workflow_job_node_edges edge
          JOIN workflow_job_nodes parent ON parent.id = edge.parent_id
          LEFT JOIN unified_jobs run ON run.id = parent.job_id
          WHERE edge.child_id = node.id) AS parents
      FROM workflow_job_nodes node
      JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
      JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
      WHERE node.id = ANY(${nodeIds}::int[]) ORDER BY node.id`);
  }

  private async makeJobs(
    nodes: readonly StartingNode[],
    requests: ReadonlyMap<StartingNode, LaunchRequest>,
  ): Promise<MadeRun[]> {
    if (nodes.length === 0) return [];
    const jobs = await this.launches.spawn(nodes.map((node) => entryOf(requests, node)));
    return zip(nodes, jobs).map(([node, { id, errors }]) => ({
      node,
      id,
      fault: couldNotStart(errors),
    }));
  }

  /** Rows come back in the order they were asked for; a project deleted meanwhile has none. */
  private async makeUpdates(nodes: readonly StartingNode[]): Promise<MadeRun[]> {
    if (nodes.length === 0) return [];
    const rows = await this.database.rows<NewRun>(
      insertProjectUpdates(
        nodes.map(({ template_id: id }) => id),
        {
          launchType: 'workflow',
          status: 'pending',
          createdBy: nodes.map(({ created_by_id: id }) => id),
        },
      ),
    );
    await this.transitions.created(rows);
    return nodes.flatMap((node) => {
      const at = rows.findIndex((row) => row.unified_job_template_id === node.template_id);
      return at < 0 ? [] : rows.splice(at, 1).map(({ id }) => ({ node, id, fault: '' }));
    });
  }

  private async makeApprovals(
    nodes: readonly StartingNode[],
  ): Promise<{ made: MadeRun[]; rows: NewRun[] }> {
    if (nodes.length === 0) return { made: [], rows: [] };
    const ids = await this.database.rows<{ id: number }>(takeIds('unified_jobs', nodes.length));
    const made = zip(nodes, ids).map(([node, { id }]) => ({ node, id, fault: '' }));
    const rows = await this.database.rows<NewRun>(
      insertApprovals(
        nodes.map(({ id }) => id),
        ids.map(({ id }) => id),
      ),
    );
    return { made, rows };
  }

  private async makeWorkflows(
    nodes: readonly StartingNode[],
    requests: ReadonlyMap<StartingNode, LaunchRequest>,
  ): Promise<MadeRun[]> {
    if (nodes.length === 0) return [];
    const chains = await this.chains(nodes.map((node) => node.workflow_job_id));
    const runs = await this.workflows.spawn(nodes.map((node) => entryOf(requests, node)));
    return zip(nodes, runs).map(([node, { id, errors }]) => ({
      node,
      id,
      fault: faultOf(node, errors, chains.get(node.workflow_job_id) ?? []),
    }));
  }

  /** Templates of a workflow job and of those around it, by workflow job, the innermost first. */
  private async chains(workflowIds: readonly number[]): Promise<Map<number, NamedTemplate[]>> {
    const rows = await this.database.rows<Row & { chain: NamedTemplate[] }>(sql`
      WITH RECURSIVE chain AS (
        SELECT id AS start_id, id, unified_job_template_id AS template_id, 0 AS depth
        FROM unified_jobs WHERE id = ANY(${workflowIds}::int[])
        UNION ALL
        SELECT chain.start_id, outer_job.id, outer_job.unified_job_template_id, chain.depth + 1
        FROM chain
        JOIN workflow_job_nodes node ON node.job_id = chain.id
        JOIN unified_jobs outer_job ON outer_job.id = node.workflow_job_id)
      SELECT chain.start_id AS id,
        json_agg(json_build_object('id', tpl.id, 'name', tpl.name) ORDER BY chain.depth) AS chain
      FROM chain JOIN unified_job_templates tpl ON tpl.id = chain.template_id
      GROUP BY chain.start_id`);
    return new Map(rows.map(({ id, chain }) => [id, chain]));
  }

  private async tie(made: readonly MadeRun[]): Promise<void> {
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET job_id = given.job_id, modified = now(),
        ancestor_artifacts = given.artifacts, secret_artifacts = given.secret
      FROM unnest(${made.map(({ node }) => node.id)}::int[], ${made.map(({ id }) => id)}::int[],
        ${made.map(({ node }) => JSON.stringify(node.inherited.open))}::json[],
        ${made.map(({ node: { id, inherited } }) =>
          sealArtifacts(this.box, 'workflow_job_nodes', id, inherited.secret),
        )}::text[])
        AS given (id, job_id, artifacts, secret)
      WHERE node.id = given.id`);
  }
}

function faultOf(node: StartingNode, errors: FieldErrors, chain: readonly NamedTemplate[]): string {
  const own = { id: node.template_id, name: node.template_name };
  return chain.some(({ id }) => id === own.id)
    ? recursionText([own, ...chain])
    : couldNotStart(errors);
}
