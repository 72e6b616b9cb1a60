import { Bool, Char, Choices, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { ExecutedJobSchema } from '../jobs/unified-job.schema.js';
import { WEBHOOK_SERVICES } from '../webhooks/services.js';

const READ_ONLY = { readOnly: true } as const;
/** Columns all runs have and that mean nothing to a run without a process of its own. */
const ABSENT = { readOnly: true, hidden: true, filter: false } as const;

/** A run that consists of other runs (core 13.4). */
export class WorkflowJobSchema extends ExecutedJobSchema {
  @Char(ABSENT)
  override execution_node!: string;

  @Char(ABSENT)
  override controller_node!: string;

  @Bool(ABSENT)
  override event_processing_finished!: boolean;

  /** Made by a bulk launch: of no template, and listed to administrators only (decision 10). */
  @Bool({ internal: true })
  is_bulk_job!: boolean;

  /** JSON text; secret answers masked. */
  @Text({ ...READ_ONLY, filter: false })
  extra_vars!: string;

  @Bool(READ_ONLY)
  allow_simultaneous!: boolean;

  @Reference(() => resource('inventory'), { ...READ_ONLY, nullable: true })
  inventory!: number | null;

  @Text({ ...READ_ONLY, nullable: true })
  limit!: string | null;

  @Char({ ...READ_ONLY, nullable: true, max: 1024 })
  scm_branch!: string | null;

  @Text({ ...READ_ONLY, nullable: true })
  job_tags!: string | null;

  @Text({ ...READ_ONLY, nullable: true })
  skip_tags!: string | null;

  @Choices(WEBHOOK_SERVICES, READ_ONLY)
  webhook_service!: string;

  @Reference(() => resource('credential'), { ...READ_ONLY, nullable: true, index: false })
  webhook_credential!: number | null;

  @Char({ ...READ_ONLY, max: 128 })
  webhook_guid!: string;
}
