import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  list,
  mapOf,
  object,
  STRING,
} from '../common/fields/json-schema.js';

/** JSON schemas of the root documents. */
export const ROOT = object({
  description: STRING,
  current_version: STRING,
  available_versions: mapOf(STRING),
  custom_logo: STRING,
  custom_login_info: STRING,
  login_redirect_override: STRING,
});

export const COLLECTIONS = { ...mapOf(STRING), description: 'Path of each collection by name.' };

export const LOGIN_OPTIONS = {
  ...mapOf(object({ name: STRING, login_url: STRING })),
  description: 'Identity provider by its slug.',
};

export const PING = object({
  ha: BOOLEAN,
  version: STRING,
  active_node: STRING,
  install_uuid: STRING,
  isolation: {
    ...list(STRING),
    description: 'What keeps runs apart on the machines that are alive: `bubblewrap`, `none`.',
  },
  warnings: list(STRING),
  instances: list(
    object(
      {
        node: STRING,
        node_type: STRING,
        uuid: STRING,
        heartbeat: INSTANT,
        capacity: INTEGER,
        version: STRING,
        ansible_version: STRING,
        ansible_runner_version: STRING,
      },
      // For superusers and auditors only.
      ['ansible_version', 'ansible_runner_version'],
    ),
  ),
  instance_groups: list(object({ name: STRING, capacity: INTEGER, instances: list(STRING) })),
});

export const MESH = object({
  nodes: list(
    object({
      id: INTEGER,
      hostname: STRING,
      node_type: STRING,
      node_state: STRING,
      enabled: BOOLEAN,
    }),
  ),
  links: { ...list(object({})), description: 'None: instances do not connect to each other.' },
});

export const CONFIG = object(
  {
    time_zone: STRING,
    version: STRING,
    license_info: object({ license_type: STRING, valid_key: BOOLEAN }),
    eula: STRING,
    analytics_status: STRING,
    analytics_collectors: object({}),
    become_methods: list(list(STRING)),
    BULK_JOB_MAX_LAUNCH: INTEGER,
    BULK_HOST_MAX_CREATE: INTEGER,
    BULK_HOST_MAX_DELETE: INTEGER,
    BULK_HOST_MAX_STREAM: INTEGER,
    PAGE_SIZE: INTEGER,
    MAX_PAGE_SIZE: INTEGER,
    project_base_dir: STRING,
    project_local_paths: list(STRING),
    custom_virtualenvs: list(STRING),
  },
  // Only for users who can create projects.
  ['project_base_dir', 'project_local_paths', 'custom_virtualenvs'],
);
