import { WIDE } from '../common/fields/column-types.js';
import { Bool, Char, Includes, Json, Reference, Text, Integer } from '../common/fields/field.js';
import { freeObject } from '../common/fields/json-schema.js';
import { resource } from '../common/resource/registry.js';
import { ResourceSchema } from '../common/resource/schemas.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { NODE_RUN_OPTIONS } from '../prompts/prompt-columns.js';

/**
 * How a node can end: as its run did, `missing` when no run could be made, or `skipped` when it was
 * not to run.
 */
export type NodeOutcome = 'successful' | 'failed' | 'error' | 'canceled' | 'missing' | 'skipped';

export interface WorkflowJobNodeSchema extends SavedOptions {}

/**
 * One run of a workflow job: what it is a run of, with which prompts
 * (docs/contract/workflows.md#workflow-jobs).
 */
@Includes(NODE_RUN_OPTIONS, 'extra_data')
export class WorkflowJobNodeSchema extends ResourceSchema {
  @Integer({ ...WIDE, label: 'ID', readOnly: true, help: 'Database id of this object.' })
  override id!: number;

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

  /** What the run is launched with: the node's prompts over the defaults of the workflow. */
  @Json({ internal: true })
  prompts!: Record<string, unknown>;

  /** How the node ended, written once; empty while it may still start or its run goes on. */
  @Char({ internal: true })
  outcome!: NodeOutcome | '';

  /** Whether the nodes after it were decided since it ended. */
  @Bool({ internal: true })
  followed!: boolean;

  /** What the runs before it handed on with `set_stats`; known once the node starts. */
  @Json({ internal: true })
  ancestor_artifacts!: Record<string, unknown>;

  /** What of it was set under `no_log`: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;
}
