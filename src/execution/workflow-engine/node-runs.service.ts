import { Injectable } from '@nestjs/common';
import { exactJson } from '../../common/exact-json.js';
import { SecretBox } from '../../common/crypto/secret-box.js';
import { textOfErrors, type FieldErrors } from '../../common/errors/errors.js';
import { entryOf, zip } from '../../common/invariants.js';
import { inheritedTooLarge } from '../../runs/run-explanations.js';
import { sealArtifacts, type Artifacts } from '../../runs/workflow-artifacts.js';
import { Launchers } from '../../launching/launchers.service.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import type { NewRun } from '../../runs/run-states.repository.js';
import {
  MAX_READ_BYTES,
  type StartingNode,
  WorkflowGraphsRepository,
} from '../../workflows/workflow-graphs.repository.js';
import { WorkflowJobsRepository } from '../../workflows/workflow-jobs.repository.js';
import {
  artifactsOfNodes,
  isTooLarge,
  MAX_INHERITED_BYTES,
  NO_ARTIFACTS,
  type NodeWithArtifacts,
} from '../../workflows/inherited-artifacts.js';
import { requestOf, type ReadyNode, type WorkflowSecrets } from '../../launching/node-request.js';

interface NamedTemplate {
  id: number;
  name: string;
}

const JOB = 'Job spawned from workflow could not start because it';
const WORKFLOW = 'Workflow Job spawned from workflow could not start because it';
/** Fields whose launch errors concern a project or an inventory. */
const RESOURCES = ['project', 'playbook', 'inventory', 'resources_needed_to_start'];

/**
 * Returns the explanation of a node whose run failed without having started
 * (docs/contract/workflows.md#nodes-that-cannot-start); empty without errors.
 */
function couldNotStart(errors: FieldErrors): string {
  const fields = Object.keys(errors);
  if (fields.length === 0) return '';
  const reason = fields.some((field) => RESOURCES.includes(field))
    ? 'was missing a related resource such as project or inventory'
    : 'was not in the right state or required manual credentials';
  return `${JOB} ${reason} (${textOfErrors(errors)})`;
}

/** @param order templates of the nested workflows, most recently started first */
const recursionText = (order: readonly NamedTemplate[]): string =>
  `${WORKFLOW} would result in recursion (spawn order, most recent first: ${order
    .map(({ id, name }) => `<${name}-${id}>`)
    .join(', ')})`;

const NO_KEY =
  'The secret statistics of the parent nodes cannot be decrypted with the current keys.';

const TOO_LARGE = inheritedTooLarge(MAX_INHERITED_BYTES);

/** A created run, with the reason why it cannot start. */
interface CreatedRun {
  node: ReadyNode;
  id: number;
  /** Reason; empty if the run can start. */
  fault: string;
}

const isReadLater = ({ parents, bytes }: StartingNode): boolean =>
  parents === null && bytes <= MAX_READ_BYTES;
const isApproval = ({ template_type: type }: ReadyNode): boolean =>
  type === 'workflow_approval_template';
const isWorkflow = ({ template_type: type }: ReadyNode): boolean =>
  type === 'workflow_job_template';

/** Creates the runs of nodes, for all workflow jobs together. */
@Injectable()
export class NodeRuns {
  constructor(
    private readonly nodes: WorkflowGraphsRepository,
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly transitions: RunTransitions,
    private readonly launchers: Launchers,
    private readonly box: SecretBox,
  ) {}

  /**
   * Starts nodes in a constant number of statements. A run that cannot start is created with the
   * status failed and the reason.
   *
   * @param secrets secrets by workflow job
   * @returns nodes without a run, because their template was just deleted
   */
  async start(
    nodeIds: readonly number[],
    secrets: ReadonlyMap<number, WorkflowSecrets>,
  ): Promise<number[]> {
    if (nodeIds.length === 0) return [];
    const { nodes, faults, later } = await this.load(nodeIds);
    const approvals = await this.createApprovals(nodes.filter(isApproval));
    const others = nodes.filter((node) => !isApproval(node));
    const created = [...(await this.launch(others, secrets)), ...approvals.created];
    await this.linkRuns(created);
    await this.transitions.created(approvals.rows);
    await this.transitions.move(
      created.flatMap(({ id, node, fault }) => {
        const explanation = faults.get(node.id) ?? fault;
        return explanation === '' ? [] : [{ id, explanation }];
      }),
      { from: ['pending'], to: 'failed' },
    );
    const known = new Set([...created.map(({ node }) => node.id), ...later]);
    const missing = nodeIds.filter((id) => !known.has(id));
    return [...missing, ...(await this.start(later, secrets))];
  }

  /**
   * @returns nodes, the reasons why nodes cannot start with their inherited artifacts, by node, and the ids of
   *   nodes whose artifacts are to be read later, because all together are too large
   */
  private async load(
    nodeIds: readonly number[],
  ): Promise<{ nodes: ReadyNode[]; faults: Map<number, string>; later: number[] }> {
    const faults = new Map<number, string>();
    const due = await this.nodes.starting(nodeIds);
    const later = due.filter(isReadLater).map(({ id }) => id);
    const ready = due.filter((node) => !isReadLater(node));
    const nodes = ready.map(({ parents, ...node }) => {
      const inherited = this.inherit(parents);
      if (typeof inherited !== 'string') return { ...node, inherited };
      faults.set(node.id, inherited);
      return { ...node, inherited: NO_ARTIFACTS };
    });
    return { nodes, faults, later };
  }

  /** @returns the artifacts of a node's parents, or the reason why the node cannot start with them */
  private inherit(parents: readonly NodeWithArtifacts[] | null): Artifacts | string {
    if (!parents) return TOO_LARGE;
    const inherited = artifactsOfNodes(this.box, parents);
    if (!inherited) return NO_KEY;
    return isTooLarge(inherited) ? TOO_LARGE : inherited;
  }

  private async launch(
    nodes: readonly ReadyNode[],
    secrets: ReadonlyMap<number, WorkflowSecrets>,
  ): Promise<CreatedRun[]> {
    const chains = await this.chains(nodes.filter(isWorkflow).map((node) => node.workflow_job_id));
    const requests = nodes.map((node) => ({
      ...requestOf(node, entryOf(secrets, node.workflow_job_id)),
      templateType: node.template_type,
    }));
    return zip(nodes, await this.launchers.spawn(requests)).flatMap(([node, { run, errors }]) => {
      const chain = isWorkflow(node) ? (chains.get(node.workflow_job_id) ?? []) : [];
      return run ? [{ node, id: run.id, fault: faultOf(node, errors, chain) }] : [];
    });
  }

  private async createApprovals(
    nodes: readonly ReadyNode[],
  ): Promise<{ created: CreatedRun[]; rows: NewRun[] }> {
    if (nodes.length === 0) return { created: [], rows: [] };
    const ids = await this.workflowJobs.takeIds(nodes.length);
    const rows = await this.workflowJobs.insertApprovals(
      nodes.map(({ id }) => id),
      ids,
    );
    const inserted = new Set(rows.map(({ id }) => id));
    const created = zip(nodes, ids).flatMap(([node, id]) =>
      inserted.has(id) ? [{ node, id, fault: '' }] : [],
    );
    return { created, rows };
  }

  /** Returns the templates of each workflow job and of its parent workflow jobs, innermost first. */
  private async chains(workflowIds: readonly number[]): Promise<Map<number, NamedTemplate[]>> {
    if (workflowIds.length === 0) return new Map();
    const rows = await this.workflowJobs.chains(workflowIds);
    return new Map(rows.map(({ id, chain }) => [id, chain]));
  }

  private async linkRuns(created: readonly CreatedRun[]): Promise<void> {
    await this.nodes.linkRuns(
      created.map(({ id: runId, node: { id, inherited } }) => ({
        id,
        runId,
        artifacts: exactJson(inherited.open),
        secret: sealArtifacts(this.box, 'workflow_job_nodes', id, inherited.secret),
      })),
    );
  }
}

function faultOf(node: ReadyNode, errors: FieldErrors, chain: readonly NamedTemplate[]): string {
  const template = { id: node.template_id, name: node.template_name };
  return chain.some(({ id }) => id === template.id)
    ? recursionText([template, ...chain])
    : couldNotStart(errors);
}
