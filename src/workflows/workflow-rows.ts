import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { entryOf, existing, zip } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { insertRows, takeIds } from '../database/rows.js';
import { ident, join, sql, type Sql } from '../database/sql.js';
import type { LaunchWebhook } from '../runs/webhook-run.schema.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { LaunchType } from '../runs/unified-job.schema.js';
import { PROMPT_LISTS, type PromptList, type Prompts } from '../prompts/launch-options.js';
import {
  columnsOfPrompts,
  HANDED_PROMPTS,
  HANDED_TYPES,
  STORED_TYPES,
} from '../prompts/prompt-columns.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import { maskedPrompts, sealWorkflowSecrets } from './workflow-secrets.js';
import { keysOf } from '../common/records.js';

/** How a parent must have ended for its child to start by this edge. */
export type EdgeKind = 'success' | 'failure' | 'always';

/** A node of a workflow job that is about to be made. */
export interface NewNode {
  /** Unique within its workflow job. */
  identifier: string;
  /** Null: its template is gone already; the node takes the failed path. */
  templateId: number | null;
  /** Prompts of the node itself, labels, credentials and instance groups among them. */
  own: Prompts;
  /**
   * What its run is launched with where that is not `own`: a bulk launch lays them over its defaults.
   * The prompts of a workflow with a template are laid over these when the node starts.
   */
  effective?: Prompts;
  /** Names of variables whose values are secret. */
  secrets: readonly string[];
  /** Edges that lead here, by identifier of the parent. */
  parents?: readonly { identifier: string; kind: EdgeKind }[];
  allParentsMustConverge?: boolean;
}

/** A workflow job that is about to be made. */
export interface NewWorkflowJob {
  name: string;
  description: string;
  /** Workflow job template; null for a bulk launch and for a sliced job. */
  templateId: number | null;
  isBulk: boolean;
  /** Job template whose slices the nodes are. */
  slicedTemplateId?: number | null;
  /** False: waits for another workflow job of its template. */
  allowSimultaneous: boolean;
  organizationId: number | null;
  /** Null: launched by an event. */
  createdBy: number | null;
  launchType: LaunchType;
  /** Hold for every node whose template asks for the field; for a bulk launch, as defaults. */
  prompts: Prompts;
  secrets: readonly string[];
  labels?: readonly number[];
  webhook?: LaunchWebhook;
  nodes: readonly NewNode[];
}

const JOB_COLUMNS = {
  id: 'integer',
  type: 'text',
  status: 'text',
  is_bulk_job: 'boolean',
  name: 'text',
  description: 'text',
  unified_job_template_id: 'integer',
  job_template_id: 'integer',
  is_sliced_job: 'boolean',
  allow_simultaneous: 'boolean',
  launch_type: 'text',
  created_by_id: 'integer',
  modified_by_id: 'integer',
  organization_id: 'integer',
  ...HANDED_TYPES,
  extra_vars: 'text',
  launch_config: 'json',
  webhook_service: 'text',
  webhook_credential_id: 'integer',
  webhook_guid: 'text',
  webhook_delivery_id: 'integer',
} as const;

const NODE_COLUMNS = {
  id: 'integer',
  workflow_job_id: 'integer',
  unified_job_template_id: 'integer',
  identifier: 'text',
  all_parents_must_converge: 'boolean',
  extra_data: 'json',
  prompts: 'json',
  ...STORED_TYPES,
} as const;

/** Prompts of a node that are lists of objects: each has a table of its own. */
const NODE_LINKS = {
  credentials: 'credential_id',
  labels: 'label_id',
  instance_groups: 'instance_group_id',
} as const satisfies Record<PromptList, string>;

interface PlacedNode extends NewNode {
  id: number;
  jobId: number;
}

/** Writes workflow jobs with their nodes and edges, in the caller's transaction. */
@Injectable()
export class WorkflowRows {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Makes workflow jobs as `pending`, in two statements however many they are and however many nodes
   * they have.
   *
   * @returns their rows in the order given
   */
  async write(given: readonly NewWorkflowJob[]): Promise<Row[]> {
    if (given.length === 0) return [];
    const ids = await this.takeIds(given);
    const jobs = zip(ids.jobs, given);
    const unnumbered = jobs.flatMap(([jobId, job]) =>
      job.nodes.map((node) => ({ ...node, jobId })),
    );
    const nodes = zip(ids.nodes, unnumbered).map(([id, node]) => ({ ...node, id }));
    const written = await this.database.preparedRows<Row>(sql`
      WITH job AS (${this.jobRows(ids.jobs, given)} RETURNING *),
        node AS (${insertRows('workflow_job_nodes', NODE_COLUMNS, nodes.map(nodeValues))}),
        edge AS (${edgeRows(nodes)}),
        label AS (${labelRows(ids.jobs, given)}),
        ${join(
          PROMPT_LISTS.map((field) => nodeLinkRows(field, nodes)),
          ', ',
        )}
      SELECT * FROM job`);
    const byId = new Map(written.map((row) => [row.id, row]));
    const rows = ids.jobs.map((id) => entryOf(byId, id));
    for (const [row, job] of zip(rows, given)) this.record(row, job);
    await this.transitions.created(
      jobs.map(([id, { templateId }]) => ({
        id,
        type: 'workflow_job',
        status: 'pending',
        unified_job_template_id: templateId,
      })),
    );
    return rows;
  }

  /** Ids come first: secrets are sealed for their row, and edges name their nodes. */
  private async takeIds(
    given: readonly NewWorkflowJob[],
  ): Promise<{ jobs: number[]; nodes: number[] }> {
    const nodes = given.reduce((count, job) => count + job.nodes.length, 0);
    const row = await this.database.preparedRow<{ jobs: number[]; nodes: number[] }>(sql`
      SELECT ARRAY(${takeIds('unified_jobs', given.length)}) AS jobs,
        ARRAY(${takeIds('workflow_job_nodes', nodes)}) AS nodes`);
    return existing(row, 'a SELECT without FROM has a row');
  }

  private jobRows(ids: readonly number[], given: readonly NewWorkflowJob[]): Sql {
    const values = zip(ids, given).map(([id, job]) => {
      const columns = this.columnsOf(id, job);
      return keysOf(JOB_COLUMNS).map((name) => columns[name]);
    });
    return insertRows('unified_jobs', JOB_COLUMNS, values);
  }

  private columnsOf(id: number, job: NewWorkflowJob): Record<keyof typeof JOB_COLUMNS, unknown> {
    const { prompts, webhook } = job;
    const config = maskedPrompts(prompts, job.secrets);
    return {
      id,
      type: 'workflow_job',
      status: 'pending',
      is_bulk_job: job.isBulk,
      name: job.name,
      description: job.description,
      unified_job_template_id: job.templateId ?? job.slicedTemplateId ?? null,
      job_template_id: job.slicedTemplateId ?? null,
      is_sliced_job: typeof job.slicedTemplateId === 'number',
      allow_simultaneous: job.allowSimultaneous,
      launch_type: job.launchType,
      created_by_id: job.createdBy,
      modified_by_id: job.createdBy,
      organization_id: job.organizationId,
      ...columnsOfPrompts(prompts, HANDED_PROMPTS),
      extra_vars: JSON.stringify(config.extra_vars ?? {}),
      launch_config: JSON.stringify({ ...config, ...this.sealed(id, job) }),
      webhook_service: webhook?.service ?? '',
      webhook_credential_id: webhook?.credentialId ?? null,
      webhook_guid: webhook?.guid ?? '',
      webhook_delivery_id: webhook?.deliveryId ?? null,
    };
  }

  private sealed(id: number, { prompts, secrets, nodes }: NewWorkflowJob): object {
    return sealWorkflowSecrets(this.box, id, [
      { identifier: '', prompts, secrets },
      ...nodes.map((node) => ({
        identifier: node.identifier,
        prompts: node.effective ?? node.own,
        secrets: node.secrets,
      })),
    ]);
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

function labelRows(ids: readonly number[], given: readonly NewWorkflowJob[]): Sql {
  const links = given.flatMap(({ labels = [] }, index) =>
    labels.map((label) => [ids[index], label]),
  );
  const columns = { workflow_job_id: 'integer', label_id: 'integer' };
  return insertRows('workflow_job_labels', columns, links);
}

function edgeRows(nodes: readonly PlacedNode[]): Sql {
  const idOf = new Map(nodes.map(({ id, jobId, identifier }) => [`${jobId}/${identifier}`, id]));
  const edges = nodes.flatMap(({ id, jobId, parents = [] }) =>
    parents.map(({ identifier, kind }) => [idOf.get(`${jobId}/${identifier}`), id, kind]),
  );
  const columns = { parent_id: 'integer', child_id: 'integer', kind: 'text' };
  return insertRows('workflow_job_node_edges', columns, edges);
}

function nodeLinkRows(field: PromptList, nodes: readonly PlacedNode[]): Sql {
  const links = nodes.flatMap(({ id, own }) => (own[field] ?? []).map((one) => [id, one]));
  const columns = { workflow_job_node_id: 'integer', [NODE_LINKS[field]]: 'integer' };
  return sql`${ident(field)} AS (${insertRows(`workflow_job_node_${field}`, columns, links)})`;
}

function nodeValues(node: PlacedNode): unknown[] {
  const { own, secrets } = node;
  const values: Record<keyof typeof NODE_COLUMNS, unknown> = {
    ...columnsOfPrompts(own),
    id: node.id,
    workflow_job_id: node.jobId,
    unified_job_template_id: node.templateId,
    identifier: node.identifier,
    all_parents_must_converge: node.allParentsMustConverge ?? false,
    extra_data: JSON.stringify(maskedPrompts(own, secrets).extra_vars ?? {}),
    prompts: JSON.stringify(maskedPrompts(node.effective ?? own, secrets)),
  };
  return keysOf(NODE_COLUMNS).map((name) => values[name]);
}
