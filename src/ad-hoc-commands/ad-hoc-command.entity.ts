import {
  Bool,
  Char,
  Choices,
  Integer,
  Json,
  Reference,
  SecretText,
  Text,
  Variables,
} from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { describedAs } from '../common/fields/options.js';
import { ISOLATIONS } from '../instances/isolation.js';
import { JOB_TYPES, MAX_ARGUMENT, VERBOSITIES } from '../prompts/job-options.js';
import { CommandModules } from './command-modules.service.js';
import { ExecutedJob, RUN_FIELDS } from '../runs/unified-job.entity.js';

/**
 * Options of a password that the credential requires at launch. The password is stored sealed until
 * the command ends, and is never returned.
 */
const PASSWORD = {
  writeOnly: true,
  column: null,
  help: 'Required if the credential prompts for the password at launch.',
} as const;

/**
 * A run of one module on hosts of an inventory, without a template
 * (docs/contract/ad-hoc-commands.md).
 */
export class AdHocCommand extends ExecutedJob {
  /** Text `module: arguments`, for filters of lists of runs. The API returns the module only. */
  @Char({ readOnly: true, search: true, help: 'Module of this command.' })
  override name!: string;

  @Text({ internal: true, readOnly: true })
  override description!: string;

  @Reference('unified_job_template', {
    internal: true,
    readOnly: true,
    nullable: true,
    index: false,
  })
  override unified_job_template!: Reference | null;

  @Choices(JOB_TYPES, { default: 'run', help: 'Run, or check without changes.' })
  job_type!: string;

  @Reference('inventory', {
    nullable: true,
    needs: 'adhoc',
    help: 'Inventory that the run works on.',
  })
  inventory!: Reference | null;

  @Text({ control: 'line', help: 'Host pattern; all hosts when empty.' })
  limit!: string;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    index: 'where set',
    help: 'Machine credential.',
  })
  credential!: Reference | null;

  @Reference('execution_environment', {
    nullable: true,
    index: false,
    help: 'Execution environment of the command; empty for the default.',
  })
  execution_environment!: Reference | null;

  @Char({
    max: 1024,
    help: 'One of the modules of the setting AD_HOC_COMMANDS.',
    optionsFrom: CommandModules,
  })
  module_name!: string;

  @Text({ control: 'line', max: MAX_ARGUMENT, help: 'Arguments of the module.' })
  module_args!: string;

  @Integer({ min: 0, default: 0, help: 'Number of parallel hosts; 0 for the default of Ansible.' })
  forks!: number;

  @Choices(VERBOSITIES, { default: 0, help: 'Level of detail of the output.' })
  verbosity!: number;

  @Variables({
    ...describedAs('string'),
    filter: false,
    help: 'JSON or YAML; shown as it was sent.',
  })
  extra_vars!: string;

  @Bool({ help: 'If true, tasks run with escalated privileges.' })
  become_enabled!: boolean;

  @Bool({ help: 'If true, the output shows the differences in changed files.' })
  diff_mode!: boolean;

  @SecretText(PASSWORD)
  ssh_password!: string;

  @SecretText(PASSWORD)
  become_password!: string;

  @SecretText(PASSWORD)
  ssh_key_unlock!: string;

  @Choices(ISOLATIONS, RUN_FIELDS.isolation)
  isolation!: string;

  /** Number of hosts by status, from the final statistics. */
  @Json({
    readOnly: true,
    detailOnly: true,
    schema: json.mapOf(json.INTEGER),
    help: 'Number of hosts by their last status.',
  })
  host_status_counts!: Record<string, number>;
}
