import { exactJson } from '../../common/exact-json.js';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/secret-box.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import { entryOf, zip } from '../../common/invariants.js';
import { InventoryUpdatesRepository } from '../../inventory-sources/inventory-updates.repository.js';
import { ProjectUpdatesRepository } from '../../projects/project-updates.repository.js';
import { sealArtifacts } from '../../runs/handed-artifacts.js';
import type { LaunchRequest } from '../../launching/launch-request.js';
import { LaunchService } from '../../launching/launch.service.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import type { NewRun } from '../../runs/run-states.repository.js';
import { WorkflowGraphsRepository } from '../../workflows/workflow-graphs.repository.js';
import { WorkflowJobsRepository } from '../../workflows/workflow-jobs.repository.js';
import { couldNotStart, recursionText, type NamedTemplate } from './could-not-start.js';
import { handedByNodes, NOTHING_HANDED } from '../../workflows/inherited-artifacts.js';
import { WorkflowLaunchService } from '../../launching/workflow-launch.service.js';
import {
  requestOf,
  type StartingNode,
  type WorkflowSecrets,
} from '../../launching/node-request.js';

const LOCKED =
  'The secret statistics of the runs before it cannot be opened with the present keys.';

/** A created run, with the reason why it cannot start. */
interface MadeRun {
  node: StartingNode;
  id: number;
  /** Reason; empty if the run can start. */
  fault: string;
}

/** Creates the runs of nodes, for all workflow jobs together. */
@Injectable()
export class NodeRuns {
  constructor(
    private readonly nodes: WorkflowGraphsRepository,
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly updates: ProjectUpdatesRepository,
    private readonly inventories: InventoryUpdatesRepository,
    private readonly transitions: RunTransitions,
    private readonly launches: LaunchService,
    private readonly workflows: WorkflowLaunchService,
    private readonly box: SecretBox,
  ) {}

  /**
   * Starts nodes in a constant number of statements. A run that cannot start is created with the
   * status failed and the reason.
   *
   * @param secrets secrets by workflow job
   * @returns nodes without a run, because their template was deleted at this moment
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
      ...(await this.makeUpdates(this.updates, of('project'))),
      ...(await this.makeUpdates(this.inventories, of('inventory_source'))),
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

  /** @returns nodes, and the ids of nodes whose inherited artifacts cannot be decrypted */
  private async load(
    nodeIds: readonly number[],
  ): Promise<{ nodes: StartingNode[]; locked: Set<number> }> {
    const locked = new Set<number>();
    const nodes = (await this.nodes.starting(nodeIds)).map(({ parents, ...node }) => {
      const inherited = handedByNodes(this.box, parents);
      if (!inherited) locked.add(node.id);
      return { ...node, inherited: inherited ?? NOTHING_HANDED };
    });
    return { nodes, locked };
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

  /**
   * Rows are returned in the order of the request; a template that was deleted meanwhile has no
   * row.
   */
  private async makeUpdates(
    updates: ProjectUpdatesRepository | InventoryUpdatesRepository,
    nodes: readonly StartingNode[],
  ): Promise<MadeRun[]> {
    if (nodes.length === 0) return [];
    const rows = await updates.insertOf(
      nodes.map(({ template_id: id }) => id),
      {
        launchType: 'workflow',
        status: 'pending',
        createdBy: nodes.map(({ created_by_id: id }) => id),
      },
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
    const ids = await this.workflowJobs.takeIds(nodes.length);
    const made = zip(nodes, ids).map(([node, id]) => ({ node, id, fault: '' }));
    const rows = await this.workflowJobs.insertApprovals(
      nodes.map(({ id }) => id),
      ids,
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

  /** Returns the templates of each workflow job and of the jobs around it, innermost first. */
  private async chains(workflowIds: readonly number[]): Promise<Map<number, NamedTemplate[]>> {
    const rows = await this.workflowJobs.chains(workflowIds);
    return new Map(rows.map(({ id, chain }) => [id, chain]));
  }

  private async tie(made: readonly MadeRun[]): Promise<void> {
    await this.nodes.tie(
      made.map(({ id: runId, node: { id, inherited } }) => ({
        id,
        runId,
        artifacts: exactJson(inherited.open),
        secret: sealArtifacts(this.box, 'workflow_job_nodes', id, inherited.secret),
      })),
    );
  }
}

function faultOf(node: StartingNode, errors: FieldErrors, chain: readonly NamedTemplate[]): string {
  const own = { id: node.template_id, name: node.template_name };
  return chain.some(({ id }) => id === own.id)
    ? recursionText([own, ...chain])
    : couldNotStart(errors);
}
