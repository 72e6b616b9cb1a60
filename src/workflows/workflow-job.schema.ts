import { Bool, Char, Includes, Json, Reference, Text } from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { resource } from '../common/resource/registry.js';
import type { HandedOptions } from '../prompts/launch-options.js';
import { WORKFLOW_RUN_OPTIONS } from '../prompts/prompt-columns.js';
import { VARIABLES_HELP } from '../runs/shown-variables.js';
import { ExecutedJobSchema } from '../runs/unified-job.schema.js';
import { WebhookRunFields } from '../runs/webhook-run.schema.js';

const READ_ONLY = { readOnly: true } as const;
/** Columns all runs have and that mean nothing to a run without a process of its own. */
export const ABSENT = { readOnly: true, hidden: true, filter: false } as const;

export interface WorkflowJobSchema extends WebhookRunFields, HandedOptions {}

/** A run that consists of other runs (docs/contract/workflows.md#workflow-jobs). */
@Includes(WebhookRunFields)
@Includes(WORKFLOW_RUN_OPTIONS)
export class WorkflowJobSchema extends ExecutedJobSchema {
  @Char(ABSENT)
  override execution_node!: string;

  @Char(ABSENT)
  override controller_node!: string;

  @Bool(ABSENT)
  override event_processing_finished!: boolean;

  /** Made by a bulk launch: of no template, and listed to administrators only. */
  @Bool(ABSENT)
  is_bulk_job!: boolean;

  /** The variables of a webhook are not in it but expanded from its delivery. */
  @Text({ ...READ_ONLY, ...describedAs('json'), filter: false, help: VARIABLES_HELP })
  extra_vars!: string;

  @Bool(READ_ONLY)
  allow_simultaneous!: boolean;

  @Reference(() => resource('job_template'), {
    ...READ_ONLY,
    nullable: true,
    help: 'Job template whose slices the jobs are.',
  })
  job_template!: Reference | null;

  @Bool({ ...READ_ONLY, help: 'The hosts of one launch are shared out among its jobs.' })
  is_sliced_job!: boolean;

  /** What its runs handed on with `set_stats`; read by a workflow around this one. */
  @Json({ internal: true })
  artifacts!: Record<string, unknown>;

  /** What of it was set under `no_log`: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;
}
