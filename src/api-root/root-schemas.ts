import {
  BOOLEAN,
  described,
  INSTANT,
  INTEGER,
  list,
  mapOf,
  object,
  STRING,
} from '../common/fields/json-schema.js';

/** JSON schemas of the root documents. */
export const ROOT = object({
  description: described(STRING, 'Name of the API.'),
  current_version: described(STRING, 'Path of the current version.'),
  available_versions: described(mapOf(STRING), 'Paths by version.'),
  custom_logo: described(STRING, 'Logo of the pages: the setting CUSTOM_LOGO.'),
  custom_login_info: described(STRING, 'Text of the login page.'),
  login_redirect_override: described(STRING, 'Page to which the login page redirects browsers.'),
});

export const COLLECTIONS = { ...mapOf(STRING), description: 'Path of each collection by name.' };

export const LOGIN_OPTIONS = {
  ...mapOf(object({ name: STRING, login_url: STRING })),
  description: 'Identity provider by its slug.',
};

export const PING = object({
  ha: described(BOOLEAN, 'Always false.'),
  version: described(STRING, 'Version of the server.'),
  active_node: described(STRING, 'Instance that responded.'),
  install_uuid: described(STRING, 'Identifier of this installation.'),
  isolation: {
    ...list(STRING),
    description: 'Isolation of runs on live machines: `bubblewrap`, `container`, `none`.',
  },
  warnings: described(list(STRING), 'Problems of this installation.'),
  instances: described(
    list(
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
    'Instances.',
  ),
  instance_groups: described(
    list(object({ name: STRING, capacity: INTEGER, instances: list(STRING) })),
    'Instance groups.',
  ),
});

export const MESH = object({
  nodes: described(
    list(
      object({
        id: INTEGER,
        hostname: STRING,
        node_type: STRING,
        node_state: STRING,
        enabled: BOOLEAN,
      }),
    ),
    'Instances.',
  ),
  links: { ...list(object({})), description: 'None: instances do not connect to each other.' },
});

export const CONFIG = object(
  {
    time_zone: described(STRING, 'Time zone of the server.'),
    version: described(STRING, 'Version of the server.'),
    license_info: described(
      object({ license_type: STRING, valid_key: BOOLEAN }),
      'Always an open license: everything is permitted.',
    ),
    eula: described(STRING, 'Always empty.'),
    analytics_status: described(STRING, 'Always `off`.'),
    analytics_collectors: described(object({}), 'Always empty.'),
    become_methods: described(
      list(list(STRING)),
      'Methods of privilege escalation, as value and label.',
    ),
    BULK_JOB_MAX_LAUNCH: described(INTEGER, 'Maximum number of jobs in a bulk launch.'),
    BULK_HOST_MAX_CREATE: described(INTEGER, 'Maximum number of hosts in a bulk create.'),
    BULK_HOST_MAX_DELETE: described(INTEGER, 'Maximum number of hosts in a bulk delete.'),
    BULK_HOST_MAX_STREAM: described(INTEGER, 'Maximum number of hosts in an NDJSON bulk create.'),
    PAGE_SIZE: described(INTEGER, 'Default page size of lists.'),
    MAX_PAGE_SIZE: described(INTEGER, 'Maximum page size of lists.'),
    project_base_dir: described(STRING, 'Folder of the projects.'),
    project_local_paths: described(
      list(STRING),
      'Folders of manual projects that no project uses.',
    ),
    custom_virtualenvs: described(list(STRING), 'Always empty.'),
  },
  // Only for users who can create projects.
  ['project_base_dir', 'project_local_paths', 'custom_virtualenvs'],
);
