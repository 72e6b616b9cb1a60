import { Injectable } from '@nestjs/common';
import { jsonText } from '../common/fields/json-text.js';
import { exactJson } from '../common/exact-json.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { entryOf, zip } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { reportsTo, type LaunchWebhook } from '../runs/webhook-run.schema.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { JobStatus, LaunchType } from '../runs/unified-job.entity.js';
import { type PromptList, type Prompts } from '../prompts/launch-options.js';
import { artifactNamesPart } from '../prompts/launch-secrets.js';
import type { ColumnValues } from '../database/rows.js';
import { columnsOfPrompts, INHERITED_PROMPTS } from '../prompts/prompt-columns.js';
import { HeldRuns } from './held-runs.listener.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import { maskedPrompts, sealWorkflowSecrets } from './workflow-secrets.js';
import { Yielder } from '../common/yielder.js';
import {
  WorkflowJobsRepository,
  type NodeLink,
  type WorkflowJobIds,
} from './workflow-jobs.repository.js';

/** Required result of a parent for its child to start over this edge. */
export type EdgeKind = 'success' | 'failure' | 'always';

/** A link between two nodes of a graph, by their ids. */
export interface Edge {
  from: number;
  to: number;
  kind: EdgeKind;
}

export interface NewNode {
  /** Identifier, unique within its workflow job. */
  identifier: string;
  /** Template; null if it was deleted: the node then takes the failure path. */
  templateId: number | null;
  /** Prompts of the node itself, with labels, credentials and instance groups. */
  prompts: Prompts;
  /**
   * Prompts of the node's run if they differ from `prompts`. For a bulk launch, these are the defaults of
   * the launch, overridden by `prompts`. The prompts of a workflow with a template override the prompts
   * of the node when the node starts.
   */
  effective?: Prompts;
  /** Names of secret variables. */
  secrets: readonly string[];
  /** Edges to this node, by identifier of the parent. */
  parents?: readonly { identifier: string; kind: EdgeKind }[];
  allParentsMustConverge?: boolean;
}

export interface NewWorkflowJob {
  name: string;
  description: string;
  /** Workflow job template; null for a bulk launch and for a sliced job. */
  templateId: number | null;
  isBulk: boolean;
  /** Job template of the slices. */
  slicedTemplateId?: number | null;
  /** False to wait for other workflow jobs of its template. */
  allowSimultaneous: boolean;
  organizationId: number | null;
  /** User who launched; null if no user did, as for events and schedules. */
  createdBy: number | null;
  launchType: LaunchType;
  /**
   * Prompts for every node whose template prompts for the field; for a bulk launch, default values.
   */
  prompts: Prompts;
  secrets: readonly string[];
  /** Names of variables among the prompts that are artifacts of surrounding runs. */
  artifactNames?: readonly string[];
  labels?: readonly number[];
  webhook?: LaunchWebhook;
  /** True if the workflow job waits for an approval before it starts (`HeldRuns`). */
  isHeld?: boolean;
  nodes: readonly NewNode[];
}

interface NumberedNode extends NewNode {
  id: number;
  jobId: number;
}

/** Writes workflow jobs with their nodes and edges, in the caller's transaction. */
@Injectable()
export class WorkflowRows {
  constructor(
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
    private readonly heldRuns: HeldRuns,
  ) {}

  /** Reserves the ids of new workflow jobs and of all their nodes. */
  takeIds(jobs: number, nodes: number): Promise<WorkflowJobIds> {
    return this.workflowJobs.takeIdsOf(jobs, nodes);
  }

  /**
   * Creates workflow jobs. The number of statements is independent of the number of jobs and nodes.
   *
   * @param reservedIds ids from an earlier call of `takeIds`
   * @returns the rows of the workflow jobs, in the order of `newJobs`
   */
  async write(newJobs: readonly NewWorkflowJob[], reservedIds?: WorkflowJobIds): Promise<Row[]> {
    if (newJobs.length === 0) return [];
    const nodeCount = newJobs.reduce((count, job) => count + job.nodes.length, 0);
    const ids = reservedIds ?? (await this.takeIds(newJobs.length, nodeCount));
    const jobs = zip(ids.jobs, newJobs);
    const unnumbered = jobs.flatMap(([jobId, job]) =>
      job.nodes.map((node) => ({ ...node, jobId })),
    );
    const nodes = zip(ids.nodes, unnumbered).map(([id, node]) => ({ ...node, id }));
    const written = await this.workflowJobs.insertAll({
      jobs: jobs.map(([id, job]) => this.columnsOf(id, job)),
      nodes: await allNodeValues(nodes),
      edges: edgeRows(nodes),
      labels: jobs.flatMap(([id, { labels = [] }]) =>
        labels.map((label) => ({ workflow_job_id: id, label_id: label })),
      ),
      lists: {
        credentials: listRows('credentials', nodes),
        labels: listRows('labels', nodes),
        instance_groups: listRows('instance_groups', nodes),
      },
    });
    const byId = new Map(written.map((row) => [row.id, row]));
    const rows = ids.jobs.map((id) => entryOf(byId, id));
    for (const [row, job] of zip(rows, newJobs)) this.record(row, job);
    await this.transitions.created(
      jobs.map(([id, job]) => ({
        id,
        type: 'workflow_job',
        status: statusOf(job),
        unified_job_template_id: templateOf(job),
        reports_to: reportsTo(job.webhook),
      })),
    );
    await this.heldRuns.hold(jobs.flatMap(([id, { isHeld }]) => (isHeld === true ? [id] : [])));
    return rows;
  }

  private columnsOf(id: number, job: NewWorkflowJob): ColumnValues {
    const { prompts, webhook } = job;
    const config = maskedPrompts(prompts, job.secrets);
    return {
      id,
      type: 'workflow_job',
      status: statusOf(job),
      is_bulk_job: job.isBulk,
      name: job.name,
      description: job.description,
      unified_job_template_id: templateOf(job),
      job_template_id: job.slicedTemplateId ?? null,
      is_sliced_job: typeof job.slicedTemplateId === 'number',
      allow_simultaneous: job.allowSimultaneous,
      launch_type: job.launchType,
      created_by_id: job.createdBy,
      modified_by_id: job.createdBy,
      organization_id: job.organizationId,
      ...columnsOfPrompts(prompts, INHERITED_PROMPTS),
      extra_vars: jsonText(config.extra_vars ?? {}),
      launch_config: exactJson({
        ...config,
        ...artifactNamesPart(job.artifactNames ?? []),
        ...sealWorkflowSecrets(this.box, id, [
          { identifier: '', prompts, secrets: job.secrets },
          ...job.nodes.map(({ identifier, prompts: own, effective = own, secrets }) => ({
            identifier,
            prompts: effective,
            secrets,
          })),
        ]),
      }),
      webhook_service: webhook?.service ?? '',
      webhook_credential_id: webhook?.credentialId ?? null,
      webhook_guid: webhook?.guid ?? '',
      webhook_delivery_id: webhook?.deliveryId ?? null,
    };
  }

  private record(row: Row, { nodes }: NewWorkflowJob): void {
    this.activity.record({
      operation: 'create',
      object1: refOf(workflowJobs, row),
      changes: {
        id: row.id,
        name: row.name,
        launch_type: row.launch_type,
        nodes: nodes.length,
      },
    });
  }
}

/** Returns the workflow job template or the sliced job template of the workflow job. */
const templateOf = ({ templateId, slicedTemplateId = null }: NewWorkflowJob): number | null =>
  templateId ?? slicedTemplateId;

const statusOf = ({ isHeld }: NewWorkflowJob): JobStatus => (isHeld === true ? 'new' : 'pending');

function edgeRows(nodes: readonly NumberedNode[]): ColumnValues[] {
  const idOf = new Map(nodes.map(({ id, jobId, identifier }) => [`${jobId}/${identifier}`, id]));
  return nodes.flatMap(({ id, jobId, parents = [] }) =>
    parents.map(({ identifier, kind }) => ({
      parent_id: idOf.get(`${jobId}/${identifier}`),
      child_id: id,
      kind,
    })),
  );
}

/** Returns rows that link nodes with the objects of a list prompt. */
const listRows = (field: PromptList, nodes: readonly NumberedNode[]): NodeLink[] =>
  nodes.flatMap(({ id, prompts }) => (prompts[field] ?? []).map((object) => [id, object] as const));

/**
 * Returns the values of nodes; yields regularly, because each node can have as many variables as a
 * launch.
 */
async function allNodeValues(nodes: readonly NumberedNode[]): Promise<ColumnValues[]> {
  const yielder = new Yielder();
  const values: ColumnValues[] = [];
  for (const node of nodes) {
    values.push(nodeValues(node));
    await yielder.yieldIfDue();
  }
  return values;
}

function nodeValues(node: NumberedNode): ColumnValues {
  const { prompts, secrets } = node;
  return {
    ...columnsOfPrompts(prompts),
    id: node.id,
    workflow_job_id: node.jobId,
    unified_job_template_id: node.templateId,
    identifier: node.identifier,
    all_parents_must_converge: node.allParentsMustConverge ?? false,
    extra_data: exactJson(maskedPrompts(prompts, secrets).extra_vars ?? {}),
    prompts: exactJson(maskedPrompts(node.effective ?? prompts, secrets)),
  };
}
