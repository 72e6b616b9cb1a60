import { Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Bool, Char, Includes, Json, Reference, Text } from '../common/fields/field.js';
import { freeObject } from '../common/fields/json-schema.js';
import { resource } from '../common/resource/registry.js';
import { WideResourceEntity } from '../common/resource/resource.entity.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { NODE_RUN_OPTIONS } from '../prompts/prompt-columns.js';

/**
 * Outcome of a node: that of its run, `missing` if no run could be created, or `skipped` if it was
 * not to run.
 */
export type NodeOutcome = 'successful' | 'failed' | 'error' | 'canceled' | 'missing' | 'skipped';

export interface WorkflowJobNode extends SavedOptions {}

/**
 * One node of a workflow job with its template and its prompts
 * (docs/contract/workflows.md#workflow-jobs).
 */
@Entity('workflow_job_nodes')
// For the first step of the engine's pass: nodes that have ended since the last pass.
@Index('workflow_job_nodes_due_idx', ['workflow_job_id'], {
  where: `((outcome <> ''::text) AND (NOT followed))`,
})
@Includes(NODE_RUN_OPTIONS, 'extra_data')
export class WorkflowJobNode extends WideResourceEntity {
  @Reference(() => resource('workflow_job'), { ...WIDE, readOnly: true, nullable: false })
  workflow_job!: Reference;

  @Reference(() => resource('unified_job_template'), {
    label: 'Template',
    readOnly: true,
    nullable: true,
    help: 'What the node runs.',
  })
  unified_job_template!: Reference | null;

  @Reference(() => resource('unified_job'), {
    ...WIDE,
    readOnly: true,
    nullable: true,
    help: 'The run, once there is one.',
  })
  job!: Reference | null;

  @Char({ readOnly: true, help: 'Name of the node within its workflow.' })
  identifier!: string;

  @Bool({ readOnly: true, help: 'The node will never run.' })
  do_not_run!: boolean;

  @Bool({ readOnly: true })
  all_parents_must_converge!: boolean;

  @Json({
    readOnly: true,
    schema: freeObject('Variables by name.'),
    help: 'Variables of the node; secret answers masked.',
  })
  extra_data!: Record<string, unknown>;

  /** Prompts of the run: those of the node over the defaults of the workflow. */
  @Json({ internal: true })
  prompts!: Record<string, unknown>;

  /** Outcome of the node, written once; empty before its end. */
  @Char({ internal: true })
  outcome!: NodeOutcome | '';

  /** True if its child nodes were decided after its end. */
  @Bool({ internal: true })
  followed!: boolean;

  /** Artifacts that earlier runs passed on with `set_stats`; set when the node starts. */
  @Json({ internal: true })
  ancestor_artifacts!: Record<string, unknown>;

  /** Inherited artifacts set under `no_log`: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;
}
