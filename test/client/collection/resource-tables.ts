import type { Item } from './python-values.js';

/** Parameter that names other objects by name, number or named URL. */
export interface Lookup {
  parameter: string;
  /** Endpoint of the look-up. */
  endpoint: string;
  /** Use of the ids: as a field of the object (by default), as a list below it, or none. */
  to?: 'field' | 'list' | 'nothing';
  /** Earlier parameters whose ids restrict this look-up. */
  within?: readonly string[];
}

/** Look-ups, sent fields and associations of a module, in the order of its requests. */
export interface ResourceTable {
  endpoint: string;
  /** Parameter and field with the name. */
  identity?: 'username';
  /** Look-ups before that of the object itself. */
  before?: readonly Lookup[];
  /**
   * Look-ups among those that restrict the search for the object. A missing parameter is searched as null.
   */
  within?: readonly string[];
  /** Fields with defaults, which are always sent. */
  always?: Item;
  /** Fields that are sent as given. */
  fields?: readonly string[];
  /** Fields that are sent only if they have a value. */
  filled?: readonly string[];
  /** Variables, which are sent as a JSON text. */
  texts?: readonly string[];
  /** Variables that are sent as a JSON text if they have a value. An empty object is sent as an object. */
  filledTexts?: readonly string[];
  /** Look-ups after that of the object itself. */
  after?: readonly Lookup[];
  /** Look-ups that always happen, but are sent only with a new object. */
  owners?: readonly Lookup[];
  /** Parameter that, if given, creates new objects in a list below another object. */
  below?: Lookup;
  /** True if missing parameters restrict the search as null. */
  nullParents?: true;
  /** True if the original of a copy is searched like the object itself, and otherwise among all objects. */
  copyWithin?: true;
  /** True if empty lists keep the present members, and otherwise detach them. */
  skipEmptyLists?: true;
}

const list = (parameter: string, endpoint = parameter, within?: readonly string[]): Lookup => ({
  parameter,
  endpoint,
  to: 'list',
  ...(within && { within }),
});

const notifications = (...events: readonly string[]): Lookup[] =>
  events.map((event) => list(`notification_templates_${event}`, 'notification_templates'));

const organization: Lookup = { parameter: 'organization', endpoint: 'organizations' };
const inventory: Lookup = { parameter: 'inventory', endpoint: 'inventories' };
const webhookCredential: Lookup = { parameter: 'webhook_credential', endpoint: 'credentials' };

const PROMPTS = [
  'scm_branch',
  'job_type',
  'job_tags',
  'skip_tags',
  'limit',
  'diff_mode',
  'verbosity',
  'forks',
  'job_slice_count',
  'timeout',
] as const;

/** Modules that keep one object, by name. */
export const RESOURCES = {
  organization: {
    endpoint: 'organizations',
    fields: ['description', 'max_hosts', 'custom_virtualenv'],
    after: [
      list('instance_groups'),
      ...notifications('started', 'success', 'error', 'approvals'),
      list('galaxy_credentials', 'credentials'),
    ],
  },
  team: {
    endpoint: 'teams',
    before: [organization],
    within: ['organization'],
    fields: ['description'],
  },
  user: {
    endpoint: 'users',
    identity: 'username',
    fields: [
      ...['first_name', 'last_name', 'email', 'is_superuser', 'is_system_auditor', 'password'],
    ],
    below: list('organization', 'organizations'),
  },
  credential_type: {
    endpoint: 'credential_types',
    always: { managed: false },
    filled: ['kind', 'description', 'inputs', 'injectors'],
  },
  credential: {
    endpoint: 'credentials',
    before: [{ parameter: 'credential_type', endpoint: 'credential_types' }, organization],
    within: ['credential_type', 'organization'],
    copyWithin: true,
    filled: ['inputs', 'description'],
    owners: [
      { parameter: 'user', endpoint: 'users' },
      { parameter: 'team', endpoint: 'teams' },
    ],
  },
  project: {
    endpoint: 'projects',
    before: [organization],
    within: ['organization'],
    fields: [
      ...['scm_type', 'scm_url', 'scm_branch', 'scm_refspec', 'scm_clean', 'local_path'],
      ...['scm_delete_on_update', 'scm_track_submodules', 'scm_update_on_launch'],
      ...['scm_update_cache_timeout', 'timeout', 'description', 'allow_override'],
    ],
    after: [
      ...notifications('started', 'success', 'error'),
      { parameter: 'credential', endpoint: 'credentials' },
    ],
  },
  inventory: {
    endpoint: 'inventories',
    before: [organization],
    within: ['organization'],
    always: { kind: null, host_filter: null },
    fields: ['kind', 'host_filter', 'description', 'prevent_instance_group_fallback'],
    texts: ['variables'],
    after: [list('instance_groups'), list('input_inventories', 'inventories')],
  },
  inventory_source: {
    endpoint: 'inventory_sources',
    before: [
      { ...organization, to: 'nothing' },
      { ...inventory, within: ['organization'] },
    ],
    within: ['inventory'],
    fields: [
      ...['description', 'source', 'source_path', 'overwrite', 'overwrite_vars', 'timeout'],
      ...['custom_virtualenv', 'verbosity', 'update_on_launch', 'update_cache_timeout'],
      ...['enabled_var', 'enabled_value', 'host_filter', 'scm_branch', 'limit'],
    ],
    filledTexts: ['source_vars'],
    after: [
      ...notifications('started', 'success', 'error'),
      { parameter: 'credential', endpoint: 'credentials' },
      { parameter: 'execution_environment', endpoint: 'execution_environments' },
      { parameter: 'source_project', endpoint: 'projects', within: ['organization'] },
    ],
  },
  host: {
    endpoint: 'hosts',
    before: [inventory],
    within: ['inventory'],
    always: { enabled: null },
    fields: ['description', 'enabled'],
    texts: ['variables'],
  },
  group: {
    endpoint: 'groups',
    before: [inventory],
    within: ['inventory'],
    fields: ['description'],
    texts: ['variables'],
    skipEmptyLists: true,
    after: [list('hosts', 'hosts', ['inventory']), list('children', 'groups', ['inventory'])],
  },
  job_template: {
    endpoint: 'job_templates',
    before: [organization],
    within: ['organization'],
    fields: [
      ...['description', 'playbook', 'force_handlers', 'start_at_task', 'use_fact_cache'],
      ...['host_config_key', 'become_enabled', 'allow_simultaneous', 'survey_enabled'],
      ...['webhook_service', 'prevent_instance_group_fallback', ...PROMPTS],
      ...['ask_scm_branch_on_launch', 'ask_diff_mode_on_launch', 'ask_variables_on_launch'],
      ...['ask_limit_on_launch', 'ask_tags_on_launch', 'ask_skip_tags_on_launch'],
      ...['ask_job_type_on_launch', 'ask_verbosity_on_launch', 'ask_inventory_on_launch'],
      ...['ask_credential_on_launch', 'ask_execution_environment_on_launch'],
      ...['ask_forks_on_launch', 'ask_instance_groups_on_launch', 'ask_timeout_on_launch'],
      ...['ask_job_slice_count_on_launch', 'ask_labels_on_launch'],
    ],
    texts: ['extra_vars'],
    after: [
      inventory,
      { parameter: 'project', endpoint: 'projects', within: ['organization'] },
      webhookCredential,
      list('credentials'),
      list('labels', 'labels', ['organization']),
      ...notifications('started', 'success', 'error'),
      list('instance_groups'),
    ],
  },
  workflow_job_template: {
    endpoint: 'workflow_job_templates',
    before: [organization],
    within: ['organization'],
    fields: [
      ...['description', 'survey_enabled', 'allow_simultaneous', 'limit', 'scm_branch'],
      ...['job_tags', 'skip_tags', 'webhook_service', 'ask_inventory_on_launch'],
      ...['ask_scm_branch_on_launch', 'ask_limit_on_launch', 'ask_variables_on_launch'],
      ...['ask_labels_on_launch', 'ask_tags_on_launch', 'ask_skip_tags_on_launch'],
    ],
    texts: ['extra_vars'],
    after: [
      inventory,
      webhookCredential,
      ...notifications('started', 'success', 'error', 'approvals'),
      list('labels', 'labels', ['organization']),
    ],
  },
  schedule: {
    endpoint: 'schedules',
    before: [
      inventory,
      { ...organization, to: 'nothing' },
      {
        parameter: 'unified_job_template',
        endpoint: 'unified_job_templates',
        within: ['organization'],
      },
    ],
    within: ['unified_job_template'],
    fields: ['rrule', 'description', 'extra_data', 'enabled', ...PROMPTS],
    after: [list('credentials'), list('labels'), list('instance_groups')],
  },
  label: {
    endpoint: 'labels',
    before: [organization],
    within: ['organization'],
  },
  notification_template: {
    endpoint: 'notification_templates',
    before: [organization],
    within: ['organization'],
    nullParents: true,
    filled: ['notification_configuration'],
    fields: ['description', 'notification_type', 'messages'],
  },
  execution_environment: {
    endpoint: 'execution_environments',
    fields: ['image', 'description', 'pull'],
    after: [organization, { parameter: 'credential', endpoint: 'credentials' }],
  },
  instance_group: {
    endpoint: 'instance_groups',
    fields: [
      ...['is_container_group', 'policy_instance_percentage', 'policy_instance_minimum'],
      ...['policy_instance_list', 'max_concurrent_jobs', 'max_forks', 'pod_spec_override'],
    ],
    after: [{ parameter: 'credential', endpoint: 'credentials' }],
  },
} as const satisfies Record<string, ResourceTable>;
