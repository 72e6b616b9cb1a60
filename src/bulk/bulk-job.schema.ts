import { Char, Entries, fieldsOf, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { PROMPTS_BODY_FIELDS } from '../prompts/launch-body.js';

/** `null` means "not sent". */
const OPTIONAL = { nullable: true, column: null, filter: false, blank: false } as const;

/** What a bulk launch says of the workflow job itself. */
export class BulkLaunchOwn {
  @Char({ required: true, column: null, help: 'Name of the workflow job.' })
  name!: string;

  @Text({ ...OPTIONAL, help: 'Description of the workflow job.' })
  description!: string | null;

  @Reference(() => resource('organization'), {
    nullable: true,
    column: null,
    help: 'Organization of the workflow job; needed by members of several.',
  })
  organization!: number | null;
}

/** The jobs of a bulk launch. */
export class BulkLaunchJobs {
  @Entries({
    help: 'Jobs: `unified_job_template`, and optionally `identifier` and the prompts of a launch.',
  })
  jobs!: unknown[];
}

/**
 * Body of a bulk launch: prompts at this level are defaults for all jobs
 * (docs/contract/bulk.md#prompts-of-a-bulk-launch).
 */
export const JOB_LAUNCH_FIELDS = [
  ...fieldsOf(BulkLaunchOwn),
  ...fieldsOf(BulkLaunchJobs),
  ...PROMPTS_BODY_FIELDS,
];
