import { Entity, Index, Column } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Bool, Char, Includes, Json, Reference, Text } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { WideResourceEntity } from '../common/resource/resource.entity.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { NODE_RUN_OPTIONS } from '../prompts/prompt-columns.js';
import { LinkTo, WideLinkRow } from '../database/table.js';

/**
 * Outcome of a node: the final status of its run, `missing` if no run could be created, or `skipped`
 * if the workflow did not reach the node.
 */
export type NodeOutcome = 'successful' | 'failed' | 'error' | 'canceled' | 'missing' | 'skipped';

export interface WorkflowJobNode extends SavedOptions {}

/**
 * One node of a workflow job with its template and its prompts
 * (docs/contract/workflows.md#workflow-jobs).
 */
@ReadOnly()
@Entity('workflow_job_nodes')
// For the first step of the engine's pass: nodes that have ended since the last pass.
@Index('workflow_job_nodes_due_idx', ['workflow_job_id'], {
  where: `((outcome <> ''::text) AND (NOT followed))`,
})
@Includes(NODE_RUN_OPTIONS, 'extra_data')
export class WorkflowJobNode extends WideResourceEntity {
  @Reference('workflow_job', {
    ...WIDE,
    nullable: false,
    help: 'Workflow job that the node belongs to.',
  })
  workflow_job!: Reference;

  @Reference('unified_job_template', {
    label: 'Template',
    nullable: true,
    help: 'Template that the node launches.',
  })
  unified_job_template!: Reference | null;

  @Reference('unified_job', {
    ...WIDE,
    nullable: true,
    help: 'Run of the node; null before the node starts.',
  })
  job!: Reference | null;

  @Char({ help: 'Name of the node within its workflow.' })
  identifier!: string;

  @Bool({ help: 'The node will never run.' })
  do_not_run!: boolean;

  @Bool({ help: 'If true, all parents must end as their links specify; if false, one is enough.' })
  all_parents_must_converge!: boolean;

  @Json({
    schema: json.freeObject('Variables by name.'),
    help: 'Variables of the node; secret answers masked.',
  })
  extra_data!: Record<string, unknown>;

  /** Prompts of the run: the defaults of a bulk launch, overridden by the prompts of the node. */
  @Json({ internal: true })
  prompts!: Record<string, unknown>;

  /** Outcome of the node, written once; empty before its end. */
  @Char({ internal: true })
  outcome!: NodeOutcome | '';

  /** True if the engine has processed the child nodes after the end of this node. */
  @Bool({ internal: true })
  followed!: boolean;

  /** Artifacts that earlier runs passed on with `set_stats`; set when the node starts. */
  @Json({ internal: true })
  ancestor_artifacts!: Record<string, unknown>;

  /** Inherited artifacts set under `no_log`: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;
}

@Entity('workflow_job_labels')
@Index('workflow_job_labels_key', ['workflow_job_id', 'label_id'], { unique: true })
export class WorkflowJobLabel extends WideLinkRow {
  @LinkTo('unified_jobs', { type: 'bigint' })
  workflow_job_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}

/** Credential prompt of a node. */
@Entity('workflow_job_node_credentials')
@Index('workflow_job_node_credentials_key', ['workflow_job_node_id', 'credential_id'], {
  unique: true,
})
export class WorkflowJobNodeCredential extends WideLinkRow {
  @LinkTo('workflow_job_nodes', { type: 'bigint' })
  workflow_job_node_id!: number;

  @LinkTo('credentials', { index: true })
  credential_id!: number;
}

/** Label prompt of a node. */
@Entity('workflow_job_node_labels')
@Index('workflow_job_node_labels_key', ['workflow_job_node_id', 'label_id'], { unique: true })
export class WorkflowJobNodeLabel extends WideLinkRow {
  @LinkTo('workflow_job_nodes', { type: 'bigint' })
  workflow_job_node_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}

/** Instance group prompt of a node. */
@Entity('workflow_job_node_instance_groups')
@Index('workflow_job_node_instance_groups_key', ['workflow_job_node_id', 'instance_group_id'], {
  unique: true,
})
export class WorkflowJobNodeInstanceGroup extends WideLinkRow {
  @LinkTo('workflow_job_nodes', { type: 'bigint' })
  workflow_job_node_id!: number;

  @LinkTo('instance_groups', { index: true })
  instance_group_id!: number;
}

/** Edge of a workflow job, of the kind `success`, `failure` or `always`. */
@Entity('workflow_job_node_edges')
@Index('workflow_job_node_edges_key', ['parent_id', 'child_id', 'kind'], { unique: true })
export class WorkflowJobNodeEdge extends WideLinkRow {
  @LinkTo('workflow_job_nodes', { type: 'bigint' })
  parent_id!: number;

  @LinkTo('workflow_job_nodes', { type: 'bigint', index: true })
  child_id!: number;

  @Column('text')
  kind!: string;
}
