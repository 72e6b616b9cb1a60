import {
  harmless,
  destination,
  managed,
  PASSWORD,
  secret,
  secretFile,
  text,
  USERNAME,
  VERIFY_SSL,
} from './managed-type.js';

const SATELLITE = managed({
  name: 'Red Hat Satellite 6',
  kind: 'cloud',
  namespace: 'satellite6',
  inputs: {
    fields: [text('host', 'Satellite 6 URL'), USERNAME, PASSWORD],
    required: ['host', 'username', 'password'],
  },
  injectors: {
    env: {
      FOREMAN_SERVER: '{{ host }}',
      FOREMAN_USER: '{{ username }}',
      FOREMAN_PASSWORD: '{{ password }}',
    },
  },
});

/** Escapes percent signs, which readers of INI files interpret as the start of a reference. */
const inIni = (id: string): string => `{{ ${id} | replace("%", "%%") }}`;

const RHV = managed({
  name: 'Red Hat Virtualization',
  kind: 'cloud',
  namespace: 'rhv',
  inputs: {
    fields: [
      text('host', 'Host (Authentication URL)'),
      USERNAME,
      PASSWORD,
      text('ca_file', 'CA File', 'Path of a file on the workers that runs can read.'),
    ],
    required: ['host', 'username', 'password'],
  },
  injectors: {
    file: {
      template: `[ovirt]
ovirt_url = ${inIni('host')}
ovirt_username = ${inIni('username')}
ovirt_password = ${inIni('password')}
{%- if ca_file %}
ovirt_ca_file = ${inIni('ca_file')}
{%- endif %}
`,
    },
    env: {
      OVIRT_INI_PATH: '{{ tower.filename }}',
      OVIRT_URL: '{{ host }}',
      OVIRT_USERNAME: '{{ username }}',
      OVIRT_PASSWORD: '{{ password }}',
    },
  },
});

/**
 * Returns the variables in which clients of controllers look for their server, for one of their prefixes.
 */
const controllerEnv = (prefix: string): Record<string, string> => ({
  [`${prefix}_HOST`]: '{{ host }}',
  [`${prefix}_USERNAME`]: '{{ username }}',
  [`${prefix}_PASSWORD`]: '{{ password }}',
  [`${prefix}_VERIFY_SSL`]: '{{ verify_ssl }}',
  [`${prefix}_OAUTH_TOKEN`]: '{{ oauth_token }}',
});

const CONTROLLER = managed({
  name: 'Red Hat Ansible Automation Platform',
  kind: 'cloud',
  namespace: 'controller',
  inputs: {
    fields: [
      text('host', 'Host', 'Address of the automation controller to connect to.'),
      USERNAME,
      PASSWORD,
      secret('oauth_token', 'OAuth Token', 'Used instead of username and password.'),
      VERIFY_SSL,
      { ...harmless(text('request_timeout', 'Request Timeout', 'In seconds.')), default: '10' },
    ],
    required: ['host'],
  },
  injectors: {
    env: {
      ...controllerEnv('TOWER'),
      ...controllerEnv('CONTROLLER'),
      CONTROLLER_REQUEST_TIMEOUT: '{{ request_timeout }}',
      AAP_HOSTNAME: '{{ host }}',
      AAP_USERNAME: '{{ username }}',
      AAP_PASSWORD: '{{ password }}',
      AAP_VALIDATE_CERTS: '{{ verify_ssl }}',
      AAP_TOKEN: '{{ oauth_token }}',
      AAP_REQUEST_TIMEOUT: '{{ request_timeout }}',
    },
    extra_vars: {
      aap_hostname: '{{ host }}',
      aap_username: '{{ username }}',
      aap_password: '{{ password }}',
      aap_token: '{{ oauth_token }}',
      aap_request_timeout: '{{ request_timeout }}',
      aap_validate_certs: '{{ verify_ssl }}',
    },
  },
});

const INSIGHTS = managed({
  name: 'Insights',
  kind: 'insights',
  namespace: 'insights',
  inputs: { fields: [USERNAME, PASSWORD], required: ['username', 'password'] },
  injectors: {
    env: { INSIGHTS_USER: '{{ username }}', INSIGHTS_PASSWORD: '{{ password }}' },
    extra_vars: { scm_username: '{{ username }}', scm_password: '{{ password }}' },
  },
});

const KUBERNETES = managed({
  name: 'OpenShift or Kubernetes API Bearer Token',
  kind: 'kubernetes',
  namespace: 'kubernetes_bearer_token',
  inputs: {
    fields: [
      text('host', 'OpenShift or Kubernetes API Endpoint'),
      secret('bearer_token', 'API Authentication Bearer Token'),
      VERIFY_SSL,
      destination(secretFile('ssl_ca_cert', 'Certificate Authority Data')),
    ],
    required: ['host', 'bearer_token'],
  },
  injectors: {
    file: { 'template.ca': '{{ ssl_ca_cert if verify_ssl }}' },
    env: {
      K8S_AUTH_HOST: '{{ host }}',
      K8S_AUTH_API_KEY: '{{ bearer_token }}',
      K8S_AUTH_VERIFY_SSL: '{{ verify_ssl }}',
      K8S_AUTH_SSL_CA_CERT: '{{ tower.filename.ca }}',
    },
  },
});

const RUN_IDENTITY = managed({
  name: 'Run Identity Token',
  kind: 'cloud',
  namespace: 'run_identity_token',
  inputs: {
    fields: [harmless(text('audience', 'Audience', 'Service that accepts the token of the run.'))],
    required: ['audience'],
  },
});

/** Credentials of platforms, with the names that modules and inventory plugins expect. */
export const PLATFORM_TYPES = [SATELLITE, RHV, CONTROLLER, INSIGHTS, KUBERNETES, RUN_IDENTITY];
