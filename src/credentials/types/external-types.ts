import { GITHUB_APP_FIELDS, GITHUB_APP_REQUIRED } from './content-types.js';
import {
  harmless,
  managed,
  secret,
  secretFile,
  text,
  type ManagedCredentialType,
} from './managed-type.js';
import type { InputField } from './definition.js';

/** Returns a multi-line text input that is not a secret, such as a certificate. */
const lines = (id: string, label: string, helpText?: string): InputField => ({
  ...text(id, label, helpText),
  multiline: true,
});

const choice = (
  id: string,
  label: string,
  choices: string[],
  defaultChoice: string,
): InputField => ({
  ...text(id, label),
  choices,
  default: defaultChoice,
});

const url = (id: string, label: string): InputField => ({
  ...text(id, label),
  format: 'url',
});

/** Returns the type of a secret store: `fields` connect to the store, `metadata` identify one secret. */
const store = (
  namespace: string,
  name: string,
  fields: InputField[],
  metadata: InputField[],
  required: string[],
): ManagedCredentialType =>
  managed({ name, kind: 'external', namespace, inputs: { fields, metadata, required } });

const CYBERARK_CCP = store(
  'aim',
  'CyberArk Central Credential Provider Lookup',
  [
    url('url', 'CyberArk CCP URL'),
    harmless(text('webservice_id', 'Web Service ID', 'Default: AIMWebService.')),
    secret('app_id', 'Application ID'),
    secretFile('client_key', 'Client Key'),
    secretFile('client_cert', 'Client Certificate'),
    { id: 'verify', label: 'Verify SSL Certificates', type: 'boolean', default: true },
  ],
  [
    text('object_query', 'Object Query', 'As in Safe=TestSafe;Object=testAccountName123'),
    choice('object_query_format', 'Object Query Format', ['Exact', 'Regexp'], 'Exact'),
    text('object_property', 'Object Property', 'Default: Content, the password.'),
    text('reason', 'Reason', 'Required if the policy of the object requires a reason.'),
  ],
  ['url', 'app_id', 'object_query'],
);

const CONJUR = store(
  'conjur',
  'CyberArk Conjur Secrets Manager Lookup',
  [
    url('url', 'Conjur URL'),
    secret('api_key', 'API Key'),
    harmless(text('account', 'Account')),
    harmless(text('username', 'Username')),
    lines('cacert', 'Public Key Certificate'),
  ],
  [text('secret_path', 'Secret Identifier'), text('secret_version', 'Secret Version')],
  ['url', 'api_key', 'account', 'username'],
);

const VAULT_FIELDS = [
  url('url', 'Server URL'),
  secret('token', 'Token', 'Takes precedence over all other authentication methods.'),
  lines('cacert', 'CA Certificate', 'Certificate authority of the server.'),
  harmless(text('role_id', 'AppRole role_id')),
  secret('secret_id', 'AppRole secret_id'),
  harmless(lines('client_cert_public', 'Client Certificate')),
  secretFile('client_cert_private', 'Client Certificate Key'),
  harmless(text('client_cert_role', 'TLS Authentication Role')),
  text('namespace', 'Namespace name (Vault Enterprise only)'),
  harmless(text('kubernetes_role', 'Kubernetes role')),
  harmless(text('username', 'Username')),
  secret('password', 'Password'),
  {
    ...text('default_auth_path', 'Path to Auth', 'Mount path of the authentication method.'),
    default: 'approle',
  },
];

const AUTH_PATH = text('auth_path', 'Path to Auth', 'Overrides the path of the credential.');

const API_VERSION = harmless(choice('api_version', 'API Version', ['v1', 'v2'], 'v1'));

const KV_METADATA = [
  text('secret_backend', 'Name of Secret Backend', 'Default: the first part of the path.'),
  text('secret_path', 'Path to Secret'),
  AUTH_PATH,
  text('secret_key', 'Key Name'),
  text('secret_version', 'Secret Version (v2 only)'),
];

const SSH_METADATA = [
  lines('public_key', 'Unsigned Public Key'),
  text('secret_path', 'Path to Secret'),
  AUTH_PATH,
  text('role', 'Role Name'),
  text('valid_principals', 'Valid Principals'),
];

const VAULT_KV = store(
  'hashivault_kv',
  'HashiCorp Vault Secret Lookup',
  [...VAULT_FIELDS, API_VERSION],
  KV_METADATA,
  ['url', 'secret_path', 'api_version', 'secret_key'],
);

const VAULT_SSH = store(
  'hashivault_ssh',
  'HashiCorp Vault Signed SSH',
  VAULT_FIELDS,
  SSH_METADATA,
  ['url', 'public_key', 'secret_path', 'role'],
);

const VAULT_JWT_FIELDS = [
  url('url', 'Server URL'),
  lines('cacert', 'CA Certificate', 'Certificate authority of the server.'),
  {
    ...text('default_auth_path', 'Path to Auth', 'Mount path of the JWT authentication method.'),
    default: 'jwt',
  },
  harmless(
    text('jwt_role', 'JWT Role', 'Role in Vault whose bound claims match the token of the run.'),
  ),
  harmless(text('jwt_aud', 'JWT Audience', 'One of the bound audiences of the role.')),
  text('namespace', 'Namespace name (Vault Enterprise only)'),
];

const VAULT_KV_JWT = store(
  'hashivault-kv-oidc',
  'HashiCorp Vault Secret Lookup (OIDC)',
  [...VAULT_JWT_FIELDS, API_VERSION],
  KV_METADATA,
  ['url', 'secret_path', 'api_version', 'secret_key', 'jwt_role', 'jwt_aud'],
);

const VAULT_SSH_JWT = store(
  'hashivault-ssh-oidc',
  'HashiCorp Vault Signed SSH (OIDC)',
  VAULT_JWT_FIELDS,
  SSH_METADATA,
  ['url', 'public_key', 'secret_path', 'role', 'jwt_role', 'jwt_aud'],
);

const AZURE_KV = store(
  'azure_kv',
  'Microsoft Azure Key Vault',
  [
    url('url', 'Vault URL (DNS Name)'),
    harmless(text('client', 'Client ID')),
    secret('secret', 'Client Secret'),
    text('tenant', 'Tenant ID'),
    choice(
      'cloud_name',
      'Cloud Environment',
      ['AzureCloud', 'AzureChinaCloud', 'AzureUSGovernment', 'AzureGermanCloud'],
      'AzureCloud',
    ),
  ],
  [text('secret_field', 'Secret Name'), text('secret_version', 'Secret Version')],
  ['url', 'client', 'secret', 'tenant', 'secret_field'],
);

const AWS_SECRETS_MANAGER = store(
  'aws_secretsmanager_credential',
  'AWS Secrets Manager lookup',
  [harmless(text('aws_access_key', 'AWS Access Key')), secret('aws_secret_key', 'AWS Secret Key')],
  [text('region_name', 'AWS Secrets Manager Region'), text('secret_name', 'AWS Secret Name')],
  ['aws_access_key', 'aws_secret_key', 'region_name', 'secret_name'],
);

const THYCOTIC_TSS = store(
  'thycotic_tss',
  'Thycotic Secret Server',
  [
    url('server_url', 'Secret Server URL'),
    harmless(text('username', 'Username')),
    text('domain', 'Domain'),
    secret('password', 'Password'),
  ],
  [text('secret_id', 'Secret ID'), text('secret_field', 'Secret Field')],
  ['server_url', 'username', 'password', 'secret_id', 'secret_field'],
);

const THYCOTIC_DSV = store(
  'thycotic_dsv',
  'Thycotic DevOps Secrets Vault',
  [
    text('tenant', 'Tenant'),
    choice('tld', 'Top-level Domain (TLD)', ['ca', 'com', 'com.au', 'eu'], 'com'),
    harmless(text('client_id', 'Client ID')),
    secret('client_secret', 'Client Secret'),
  ],
  [
    text('path', 'Secret Path'),
    text('secret_field', 'Secret Field'),
    choice(
      'secret_decoding',
      'Should the secret be base64 decoded?',
      ['No Decoding', 'Decode Base64'],
      'No Decoding',
    ),
  ],
  ['tenant', 'client_id', 'client_secret', 'path', 'secret_field', 'secret_decoding'],
);

const CENTRIFY = store(
  'centrify_vault_kv',
  'Centrify Vault Credential Provider Lookup',
  [
    url('url', 'Centrify Tenant URL'),
    harmless(text('client_id', 'Centrify API User')),
    secret('client_password', 'Centrify API Password'),
    { ...harmless(text('oauth_application_id', 'OAuth2 Application ID')), default: 'awx' },
    { ...harmless(text('oauth_scope', 'OAuth2 Scope')), default: 'awx' },
  ],
  [text('account-name', 'Account Name'), text('system-name', 'System Name')],
  ['url', 'client_id', 'client_password', 'account-name', 'system-name'],
);

const GITHUB_APP = store(
  'github_app',
  'GitHub App Lookup',
  GITHUB_APP_FIELDS,
  [],
  GITHUB_APP_REQUIRED,
);

/** Types of secret stores, from which inputs of other credentials are looked up. */
export const EXTERNAL_TYPES = [
  CYBERARK_CCP,
  CONJUR,
  VAULT_KV,
  VAULT_SSH,
  VAULT_KV_JWT,
  VAULT_SSH_JWT,
  AZURE_KV,
  AWS_SECRETS_MANAGER,
  THYCOTIC_TSS,
  THYCOTIC_DSV,
  CENTRIFY,
  GITHUB_APP,
];
