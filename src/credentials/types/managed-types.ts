import {
  tokenTypeNamespace,
  WEBHOOK_SERVICE_NAMES,
  webhookService,
  type WebhookServiceName,
} from '../../code-hosts/services.js';
import type { CredentialTypeDefinition, InputField } from './definition.js';

/** A shipped credential type; its namespace is what `kind` of a credential shows. */
export interface ManagedCredentialType extends CredentialTypeDefinition {
  namespace: string;
  managed: true;
  description: string;
}

const USERNAME: InputField = { id: 'username', label: 'Username', type: 'string' };
const PASSWORD: InputField = { id: 'password', label: 'Password', type: 'string', secret: true };
const PRIVATE_KEY: InputField = {
  id: 'ssh_key_data',
  label: 'SSH Private Key',
  type: 'string',
  format: 'ssh_private_key',
  secret: true,
  multiline: true,
};
const PASSPHRASE: InputField = {
  id: 'ssh_key_unlock',
  label: 'Private Key Passphrase',
  type: 'string',
  secret: true,
};
const askable = (field: InputField): InputField => ({ ...field, ask_at_runtime: true });

const managed = (
  type: Omit<ManagedCredentialType, 'managed' | 'injectors' | 'description'>,
): ManagedCredentialType => ({ ...type, managed: true, description: '', injectors: {} });

const MACHINE = managed({
  name: 'Machine',
  kind: 'ssh',
  namespace: 'ssh',
  inputs: {
    fields: [
      USERNAME,
      askable(PASSWORD),
      PRIVATE_KEY,
      {
        id: 'ssh_public_key_data',
        label: 'Signed SSH Certificate',
        type: 'string',
        multiline: true,
        secret: true,
      },
      askable(PASSPHRASE),
      {
        id: 'become_method',
        label: 'Privilege Escalation Method',
        type: 'string',
        help_text: 'How tasks become another user, as the --become-method option of Ansible.',
      },
      { id: 'become_username', label: 'Privilege Escalation Username', type: 'string' },
      askable({ ...PASSWORD, id: 'become_password', label: 'Privilege Escalation Password' }),
    ],
  },
});

const SOURCE_CONTROL = managed({
  name: 'Source Control',
  kind: 'scm',
  namespace: 'scm',
  inputs: {
    fields: [USERNAME, PASSWORD, { ...PRIVATE_KEY, label: 'SCM Private Key' }, PASSPHRASE],
  },
});

const VAULT = managed({
  name: 'Vault',
  kind: 'vault',
  namespace: 'vault',
  inputs: {
    fields: [
      askable({ ...PASSWORD, id: 'vault_password', label: 'Vault Password' }),
      {
        id: 'vault_id',
        label: 'Vault Identifier',
        type: 'string',
        format: 'vault_id',
        help_text: 'Tells several vault passwords apart, as the --vault-id option of Ansible.',
      },
    ],
    required: ['vault_password'],
  },
});

const NETWORK = managed({
  name: 'Network',
  kind: 'net',
  namespace: 'net',
  inputs: {
    fields: [
      USERNAME,
      PASSWORD,
      PRIVATE_KEY,
      PASSPHRASE,
      { id: 'authorize', label: 'Authorize', type: 'boolean' },
      { ...PASSWORD, id: 'authorize_password', label: 'Authorize Password' },
    ],
    dependencies: { authorize_password: ['authorize'] },
    required: ['username'],
  },
});

const REGISTRY = managed({
  name: 'Container Registry',
  kind: 'registry',
  namespace: 'registry',
  inputs: {
    fields: [
      {
        id: 'host',
        label: 'Authentication URL',
        type: 'string',
        help_text: 'Address of the registry.',
      },
      USERNAME,
      { ...PASSWORD, label: 'Password or Token' },
      { id: 'verify_ssl', label: 'Verify SSL', type: 'boolean', default: true },
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
        id: 'url',
        label: 'Galaxy Server URL',
        type: 'string',
        format: 'url',
        help_text: 'Address of the server that collections are installed from.',
      },
      {
        id: 'auth_url',
        label: 'Auth Server URL',
        type: 'string',
        format: 'url',
        help_text: 'Address of the token endpoint, for servers with single sign-on.',
      },
      {
        id: 'token',
        label: 'API Token',
        type: 'string',
        secret: true,
        help_text: 'Token that is sent to the server.',
      },
    ],
    required: ['url'],
  },
});

/**
 * The token that posts statuses to a service. `host` goes beyond the reference: the address of the
 * status API comes from a payload, and the token is sent to this host only.
 */
const tokenType = (service: WebhookServiceName): ManagedCredentialType =>
  managed({
    name: `${webhookService(service).label} Personal Access Token`,
    kind: 'token',
    namespace: tokenTypeNamespace(service),
    inputs: {
      fields: [
        {
          id: 'token',
          label: 'Token',
          type: 'string',
          secret: true,
          help_text: 'Token with permission to post commit statuses.',
        },
        {
          id: 'host',
          label: 'Host of the status API',
          type: 'string',
          format: 'url',
          help_text:
            'The token is sent to this host only, for example https://git.example.com. ' +
            'Without it the installation-wide list of hosts applies.',
        },
      ],
      required: ['token'],
    },
  });

/** The credential types every installation has. */
export const MANAGED_CREDENTIAL_TYPES: readonly ManagedCredentialType[] = [
  MACHINE,
  SOURCE_CONTROL,
  VAULT,
  NETWORK,
  REGISTRY,
  GALAXY,
  ...WEBHOOK_SERVICE_NAMES.map(tokenType),
];

/** A shipped type by its namespace. */
export function managedCredentialType(namespace: string): ManagedCredentialType | undefined {
  return MANAGED_CREDENTIAL_TYPES.find((type) => type.namespace === namespace);
}
