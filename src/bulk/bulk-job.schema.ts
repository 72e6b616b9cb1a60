import { Char, fieldsOf, Json, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { LAUNCH_FIELDS } from '../prompts/launch.schema.js';

/** `null` means "not sent". */
const OPTIONAL = { nullable: true, column: null, filter: false, blank: false } as const;

class BulkJobLaunchSchema {
  @Char({ required: true, column: null, help: 'Name of the workflow job.' })
  name!: string;

  @Text({ ...OPTIONAL, help: 'Description of the workflow job.' })
  description!: string | null;

  @Reference(() => resource('organization'), {
    nullable: true,
    column: null,
    help: 'Organization of the workflow job; needed by members of several.',
  })
  organization!: Reference | null;

  @Json({
    required: true,
    default: [],
    column: null,
    filter: false,
    help: 'Jobs: `unified_job_template`, and optionally `identifier` and the prompts of a launch.',
  })
  jobs!: object[];
}

const OWN = fieldsOf(BulkJobLaunchSchema);

/** What is said about the workflow job itself. */
export const WORKFLOW_FIELDS = OWN.filter(({ name }) => name !== 'jobs');

/**
 * Body of a bulk launch: prompts at this level are defaults for all jobs
 * (docs/contract/bulk.md#prompts-of-a-bulk-launch).
 */
export const JOB_LAUNCH_FIELDS = [
  ...OWN,
  ...LAUNCH_FIELDS.filter(({ name }) => name !== 'credential_passwords'),
];
