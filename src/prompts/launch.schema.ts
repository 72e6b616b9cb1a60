import {
  Bool,
  Char,
  Choices,
  fieldsOf,
  Integer,
  Json,
  Reference,
  References,
  Text,
  Variables,
} from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { JOB_TYPES, VERBOSITIES } from './job-options.js';

/** `null` means "not sent": clients fill absent options with it. */
const OPTIONAL = { nullable: true, column: null, filter: false } as const;

/**
 * Body of a launch (docs/contract/launching.md#launch). A field counts where the template asks for
 * it.
 */
class LaunchSchema {
  @Reference(() => resource('inventory'), OPTIONAL)
  inventory?: number | null;

  @References(() => resource('credential'), { nullable: true, help: 'Credentials of the run.' })
  credentials?: number[] | null;

  @Variables({ ...OPTIONAL, help: 'Variables, JSON or YAML.' })
  extra_vars?: string | null;

  @Text({ ...OPTIONAL, help: 'Host pattern.' })
  limit?: string | null;

  @Text({ ...OPTIONAL, help: 'Comma-separated tags to run.' })
  job_tags?: string | null;

  @Char({ ...OPTIONAL, max: 1024, help: 'Comma-separated tags to skip.' })
  skip_tags?: string | null;

  @Choices(JOB_TYPES, OPTIONAL)
  job_type?: string | null;

  @Choices(VERBOSITIES, OPTIONAL)
  verbosity?: number | null;

  @Bool(OPTIONAL)
  diff_mode?: boolean | null;

  @Char({ ...OPTIONAL, max: 1024, help: 'Branch, tag or commit.' })
  scm_branch?: string | null;

  @Integer({ ...OPTIONAL, min: 0 })
  forks?: number | null;

  @Integer({ ...OPTIONAL, min: -1, help: 'Seconds; 0 is the default setting, -1 no limit.' })
  timeout?: number | null;

  @Integer({ ...OPTIONAL, min: 0 })
  job_slice_count?: number | null;

  @Integer({ ...OPTIONAL, min: 1 })
  execution_environment?: number | null;

  @References(() => resource('label'), { nullable: true, help: 'Labels added to the run.' })
  labels?: number[] | null;

  @References(() => resource('instance_group'), {
    nullable: true,
    help: 'Instance groups, best first.',
  })
  instance_groups?: number[] | null;

  @Json({ ...OPTIONAL, writeOnly: true, help: 'Answers to passwords_needed_to_start, by name.' })
  credential_passwords?: Record<string, string> | null;
}

export const LAUNCH_FIELDS = fieldsOf(LaunchSchema);
