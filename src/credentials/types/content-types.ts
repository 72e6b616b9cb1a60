import {
  tokenTypeNamespace,
  WEBHOOK_SERVICE_NAMES,
  type WebhookServiceName,
} from '../../code-hosts/services.js';
import type { InputField } from './definition.js';
import {
  harmless,
  managed,
  PASSWORD,
  secret,
  secretFile,
  text,
  USERNAME,
  VERIFY_SSL,
  type ManagedCredentialType,
} from './managed-type.js';

const REGISTRY = managed({
  name: 'Container Registry',
  kind: 'registry',
  namespace: 'registry',
  inputs: {
    fields: [
      text('host', 'Authentication URL', 'Address of the registry.'),
      USERNAME,
      { ...PASSWORD, label: 'Password or Token' },
      VERIFY_SSL,
    ],
    required: ['host'],
  },
});

const GALAXY = managed({
  name: 'Ansible Galaxy/Automation Hub API Token',
  kind: 'galaxy',
  namespace: 'galaxy_api_token',
  inputs: {
    fields: [
      {
        ...text(
          'url',
          'Galaxy Server URL',
          'Address of the server that collections are installed from.',
        ),
        format: 'url',
      },
      {
        ...text(
          'auth_url',
          'Auth Server URL',
          'Address of the token endpoint, for servers with single sign-on.',
        ),
        format: 'url',
      },
      secret('token', 'API Token', 'Token that is sent to the server.'),
    ],
    required: ['url'],
  },
});

/** Inputs that identify an installation of a GitHub App. */
export const GITHUB_APP_FIELDS: InputField[] = [
  {
    ...text('github_url', 'GitHub API URL', 'For GitHub Enterprise: https://<host>/api/v3.'),
    format: 'url',
    default: 'https://api.github.com',
  },
  harmless(text('app_id', 'App ID', 'Shown in the settings of the app.')),
  harmless(text('install_id', 'Installation ID', 'Last part of the URL of the installation.')),
  {
    ...secretFile('private_rsa_key', 'RSA Private Key', 'Private key that GitHub generated.'),
    format: 'ssh_private_key',
  },
];
export const GITHUB_APP_REQUIRED = ['app_id', 'install_id', 'private_rsa_key'];

const GITHUB_APP = managed({
  name: 'GitHub App Token',
  kind: 'scm',
  namespace: 'github_app_token',
  inputs: { fields: GITHUB_APP_FIELDS, required: GITHUB_APP_REQUIRED },
});

const GPG_PUBLIC_KEY = managed({
  name: 'GPG Public Key',
  kind: 'cryptography',
  namespace: 'gpg_public_key',
  inputs: {
    fields: [
      secretFile('gpg_public_key', 'GPG Public Key', 'Key that signs the content of projects.'),
    ],
    required: ['gpg_public_key'],
  },
});

/** Names of the services in the names of their token types (docs/contract). */
const NEUTRAL_LABELS: Readonly<Record<WebhookServiceName, string>> = {
  service_a: 'Service A',
  service_b: 'Service B',
  service_c_dc: 'Service C',
};

/**
 * Returns the type of the token that posts statuses to a service. `host` is an addition to the reference
 * product: the URL of the status API comes from a payload, and the token is sent to this host only.
 */
const tokenType = (service: WebhookServiceName): ManagedCredentialType =>
  managed({
    name: `${NEUTRAL_LABELS[service]} Personal Access Token`,
    kind: 'token',
    namespace: tokenTypeNamespace(service),
    inputs: {
      fields: [
        secret('token', 'Token', 'Token with permission to post commit statuses.'),
        {
          ...text(
            'host',
            'Host of the status API',
            'The token is sent to this host only, for example https://git.example.com. ' +
              'Without it the installation-wide list of hosts applies.',
          ),
          format: 'url',
        },
      ],
      required: ['token'],
    },
  });

/** Credentials for fetching and verifying content, and for posting statuses. Runs never receive them. */
export const CONTENT_TYPES = [
  REGISTRY,
  GALAXY,
  GPG_PUBLIC_KEY,
  GITHUB_APP,
  ...WEBHOOK_SERVICE_NAMES.map(tokenType),
];
