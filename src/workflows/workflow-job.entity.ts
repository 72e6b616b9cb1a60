import { Bool, Char, Includes, Json, Reference, Text } from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import type { InheritedOptions } from '../prompts/launch-options.js';
import { WORKFLOW_RUN_OPTIONS } from '../prompts/prompt-columns.js';
import { ExecutedJob } from '../runs/unified-job.entity.js';
import { VARIABLES_HELP, WebhookRunFields } from '../runs/webhook-run.schema.js';

/** Options of columns that all runs have, but that runs without a process do not use. */
const ABSENT = { readOnly: true, hidden: true, filter: false } as const;

export interface WorkflowJob extends WebhookRunFields, InheritedOptions {}

/** A run that consists of other runs (docs/contract/workflows.md#workflow-jobs). */
@ReadOnly()
@Includes(WebhookRunFields)
@Includes(WORKFLOW_RUN_OPTIONS)
export class WorkflowJob extends ExecutedJob {
  @Char({ internal: true })
  override execution_node!: string;

  @Char({ internal: true })
  override controller_node!: string;

  @Bool(ABSENT)
  override event_processing_finished!: boolean;

  /** True for a workflow job of a bulk launch, which has no template. Only administrators see it in lists. */
  @Bool(ABSENT)
  is_bulk_job!: boolean;

  /** Does not contain the variables of a webhook, which are expanded from its delivery. */
  @Text({ ...describedAs('json'), filter: false, help: VARIABLES_HELP })
  extra_vars!: string;

  @Bool({ help: 'If true, the run does not wait for other runs of its template.' })
  allow_simultaneous!: boolean;

  @Reference('job_template', { nullable: true, help: 'Job template that was launched in slices.' })
  job_template!: Reference | null;

  @Bool({ help: 'True if the hosts of the launch are divided among its jobs.' })
  is_sliced_job!: boolean;

  /** Artifacts that the workflow's runs passed on with `set_stats`, for a surrounding workflow. */
  @Json({ internal: true })
  artifacts!: Record<string, unknown>;

  /** Artifacts set under `no_log`: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;
}
