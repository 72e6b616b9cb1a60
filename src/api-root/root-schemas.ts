import * as json from '../common/fields/json-schema.js';

/** JSON schemas of the root documents. */
export const ROOT = json.object({
  description: json.described(json.STRING, 'Name of the API.'),
  current_version: json.described(json.STRING, 'Path of the current version.'),
  available_versions: json.described(json.mapOf(json.STRING), 'Paths by version.'),
  oauth2: json.described(json.STRING, 'Path of the endpoints for applications.'),
  custom_logo: json.described(json.STRING, 'Logo of the pages: the setting CUSTOM_LOGO.'),
  custom_login_info: json.described(json.STRING, 'Text of the login page.'),
  login_redirect_override: json.described(
    json.STRING,
    'Page to which the login page redirects browsers.',
  ),
});

export const COLLECTIONS = {
  ...json.mapOf(json.STRING),
  description: 'Path of each collection by name.',
};

export const LOGIN_OPTIONS = {
  ...json.mapOf(json.object({ name: json.STRING, login_url: json.STRING })),
  description: 'Identity provider by its slug.',
};

export const PING = json.object({
  ha: json.described(json.BOOLEAN, 'Always false.'),
  version: json.described(json.STRING, 'Version of the server.'),
  active_node: json.described(json.STRING, 'Instance that responded.'),
  install_uuid: json.described(json.STRING, 'Identifier of this installation.'),
  isolation: {
    ...json.list(json.STRING),
    description: 'Isolation of runs on live machines: `bubblewrap`, `container`, `none`.',
  },
  warnings: json.described(json.list(json.STRING), 'Problems of this installation.'),
  instances: json.described(
    json.list(
      json.object(
        {
          node: json.STRING,
          node_type: json.STRING,
          uuid: json.STRING,
          heartbeat: json.INSTANT,
          capacity: json.INTEGER,
          version: json.STRING,
          ansible_version: json.STRING,
          ansible_runner_version: json.STRING,
        },
        // For superusers and auditors only.
        ['ansible_version', 'ansible_runner_version'],
      ),
    ),
    'Instances.',
  ),
  instance_groups: json.described(
    json.list(
      json.object({ name: json.STRING, capacity: json.INTEGER, instances: json.list(json.STRING) }),
    ),
    'Instance groups.',
  ),
});

export const MESH = json.object({
  nodes: json.described(
    json.list(
      json.object({
        id: json.INTEGER,
        hostname: json.STRING,
        node_type: json.STRING,
        node_state: json.STRING,
        enabled: json.BOOLEAN,
      }),
    ),
    'Instances.',
  ),
  links: {
    ...json.list(json.object({})),
    description: 'None: instances do not connect to each other.',
  },
});

export const CONFIG = json.object(
  {
    time_zone: json.described(json.STRING, 'Time zone of the server.'),
    version: json.described(json.STRING, 'Version of the server.'),
    license_info: json.described(
      json.object({ license_type: json.STRING, valid_key: json.BOOLEAN }),
      'Always an open license: everything is permitted.',
    ),
    eula: json.described(json.STRING, 'Always empty.'),
    analytics_status: json.described(json.STRING, 'Always `off`.'),
    analytics_collectors: json.described(json.object({}), 'Always empty.'),
    become_methods: json.described(
      json.list(json.list(json.STRING)),
      'Methods of privilege escalation, as value and label.',
    ),
    BULK_JOB_MAX_LAUNCH: json.described(json.INTEGER, 'Maximum number of jobs in a bulk launch.'),
    BULK_HOST_MAX_CREATE: json.described(json.INTEGER, 'Maximum number of hosts in a bulk create.'),
    BULK_HOST_MAX_DELETE: json.described(json.INTEGER, 'Maximum number of hosts in a bulk delete.'),
    BULK_HOST_MAX_STREAM: json.described(
      json.INTEGER,
      'Maximum number of hosts in an NDJSON bulk create.',
    ),
    PAGE_SIZE: json.described(json.INTEGER, 'Default page size of lists.'),
    MAX_PAGE_SIZE: json.described(json.INTEGER, 'Maximum page size of lists.'),
    project_base_dir: json.described(json.STRING, 'Folder of the projects.'),
    project_local_paths: json.described(
      json.list(json.STRING),
      'Folders of manual projects that no project uses.',
    ),
    custom_virtualenvs: json.described(json.list(json.STRING), 'Always empty.'),
  },
  // Only for users who can create projects.
  ['project_base_dir', 'project_local_paths', 'custom_virtualenvs'],
);
