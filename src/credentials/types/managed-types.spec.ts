import { sampleKeys } from '../../../test/support/payloads/ssh-keys.js';
import type { CombinedCredential } from './combination.js';
import type { CredentialInputs } from './definition.js';
import { injectCustom } from './injection.js';
import { emptyPlan, HIDDEN } from './injection-plan.js';
import { validateTypeDefinition } from './input-schema.js';
import { isDestination, validateInputs } from './inputs.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';
import { MANAGED_CREDENTIAL_TYPES } from './managed-types.js';

const KEY = sampleKeys().plain['pkcs8'] ?? '';

function credential(namespace: string, inputs: CredentialInputs): CombinedCredential {
  const type = managedCredentialType(namespace);
  if (!type) throw new Error(`no type ${namespace}`);
  expect(validateInputs(type, inputs).errors).toEqual({});
  return { name: namespace, type, inputs };
}

/** Returns the values that a credential of a shipped type injects. Files are in `/env`. */
function injected(namespace: string, inputs: CredentialInputs) {
  const plan = emptyPlan();
  const pathOf = (name: string): string => `/env/${name}`;
  const addFile = (name: string, content: string): string => {
    plan.files.push({ name, content });
    return pathOf(name);
  };
  injectCustom({ plan, pathOf, addFile }, credential(namespace, inputs));
  const { env, safeEnv, extraVars, files } = plan;
  return { env, safeEnv, extraVars, files };
}

describe('managed credential types', () => {
  it('have the namespaces, kinds and names of the contract', () => {
    expect(
      MANAGED_CREDENTIAL_TYPES.map(({ namespace, kind, name }) => [namespace, kind, name]),
    ).toEqual([
      ['ssh', 'ssh', 'Machine'],
      ['scm', 'scm', 'Source Control'],
      ['vault', 'vault', 'Vault'],
      ['net', 'net', 'Network'],
      ['aws', 'cloud', 'Amazon Web Services'],
      ['azure_rm', 'cloud', 'Microsoft Azure Resource Manager'],
      ['gce', 'cloud', 'Google Compute Engine'],
      ['vmware', 'cloud', 'VMware vCenter'],
      ['openstack', 'cloud', 'OpenStack'],
      ['terraform', 'cloud', 'Terraform backend configuration'],
      ['satellite6', 'cloud', 'Red Hat Satellite 6'],
      ['rhv', 'cloud', 'Red Hat Virtualization'],
      ['controller', 'cloud', 'Red Hat Ansible Automation Platform'],
      ['insights', 'insights', 'Insights'],
      ['kubernetes_bearer_token', 'kubernetes', 'OpenShift or Kubernetes API Bearer Token'],
      ['run_identity_token', 'cloud', 'Run Identity Token'],
      ['registry', 'registry', 'Container Registry'],
      ['galaxy_api_token', 'galaxy', 'Ansible Galaxy/Automation Hub API Token'],
      ['gpg_public_key', 'cryptography', 'GPG Public Key'],
      ['github_app_token', 'scm', 'GitHub App Token'],
      ['service_a_token', 'token', 'Service A Personal Access Token'],
      ['service_b_token', 'token', 'Service B Personal Access Token'],
      ['service_c_dc_token', 'token', 'Service C Personal Access Token'],
      ['aim', 'external', 'CyberArk Central Credential Provider Lookup'],
      ['conjur', 'external', 'CyberArk Conjur Secrets Manager Lookup'],
      ['hashivault_kv', 'external', 'HashiCorp Vault Secret Lookup'],
      ['hashivault_ssh', 'external', 'HashiCorp Vault Signed SSH'],
      ['hashivault-kv-oidc', 'external', 'HashiCorp Vault Secret Lookup (OIDC)'],
      ['hashivault-ssh-oidc', 'external', 'HashiCorp Vault Signed SSH (OIDC)'],
      ['azure_kv', 'external', 'Microsoft Azure Key Vault'],
      ['aws_secretsmanager_credential', 'external', 'AWS Secrets Manager lookup'],
      ['thycotic_tss', 'external', 'Thycotic Secret Server'],
      ['thycotic_dsv', 'external', 'Thycotic DevOps Secrets Vault'],
      ['centrify_vault_kv', 'external', 'Centrify Vault Credential Provider Lookup'],
      ['github_app', 'external', 'GitHub App Lookup'],
    ]);
  });

  it.each(MANAGED_CREDENTIAL_TYPES.map((type) => [type.name, type] as const))(
    '%s obeys the rules for definitions, except for its kind',
    (_name, { inputs, injectors }) => {
      const { fields = [], metadata = [], ...rules } = inputs;
      // The metadata of a secret store are not template variables, so their ids can contain a dash.
      const named = metadata.map((field) => ({ ...field, id: field.id.replace('-', '_') }));
      const required = rules.required?.map((id) => id.replace('-', '_')) ?? [];
      const all = { ...rules, required, fields: [...fields, ...named] };
      expect(validateTypeDefinition({ kind: 'cloud', inputs: all, injectors })).toEqual({});
    },
  );

  it('mark the inputs that decide where secrets are sent', () => {
    const found = MANAGED_CREDENTIAL_TYPES.map(({ namespace, inputs: { fields = [] } }) => [
      namespace,
      fields
        .filter(isDestination)
        .map(({ id }) => id)
        .join(' '),
    ]);
    const vault = 'url cacert namespace default_auth_path';
    expect(Object.fromEntries(found.filter(([, ids]) => ids !== ''))).toEqual({
      azure_rm: 'tenant cloud_environment',
      vmware: 'host verify_ssl',
      openstack: 'host domain verify_ssl',
      terraform: 'configuration',
      satellite6: 'host',
      rhv: 'host ca_file',
      controller: 'host verify_ssl',
      kubernetes_bearer_token: 'host verify_ssl ssl_ca_cert',
      registry: 'host verify_ssl',
      galaxy_api_token: 'url auth_url',
      service_a_token: 'host',
      service_b_token: 'host',
      service_c_dc_token: 'host',
      aim: 'url verify',
      conjur: 'url cacert',
      hashivault_kv: vault,
      hashivault_ssh: vault,
      'hashivault-kv-oidc': 'url cacert default_auth_path namespace',
      'hashivault-ssh-oidc': 'url cacert default_auth_path namespace',
      github_app: 'github_url',
      github_app_token: 'github_url',
      azure_kv: 'url tenant cloud_name',
      thycotic_tss: 'server_url domain',
      thycotic_dsv: 'tenant tld',
      centrify_vault_kv: 'url',
    });
  });

  it('are undefined for an unknown namespace', () => {
    expect(managedCredentialType('nothing')).toBeUndefined();
  });
});

describe('injectors of managed types', () => {
  const SERVER = { host: 'https://cloud.example.com', username: 'u', password: 'pw' };

  it.each<[string, CredentialInputs, Record<string, string>]>([
    [
      'aws',
      { username: 'AKIA', password: 'pw' },
      { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'pw' },
    ],
    [
      'aws',
      { username: 'AKIA', password: 'pw', security_token: 'sts' },
      {
        AWS_ACCESS_KEY_ID: 'AKIA',
        AWS_SECRET_ACCESS_KEY: 'pw',
        AWS_SECURITY_TOKEN: 'sts',
        AWS_SESSION_TOKEN: 'sts',
      },
    ],
    [
      'azure_rm',
      { subscription: 's', client: 'c', secret: 'pw', tenant: 't', username: 'left out' },
      {
        AZURE_SUBSCRIPTION_ID: 's',
        AZURE_CLIENT_ID: 'c',
        AZURE_SECRET: 'pw',
        AZURE_TENANT: 't',
      },
    ],
    [
      'azure_rm',
      {
        ...{ subscription: 's', username: 'u', password: 'pw', tenant: 'alone' },
        cloud_environment: 'AzureChinaCloud',
      },
      {
        AZURE_SUBSCRIPTION_ID: 's',
        AZURE_AD_USER: 'u',
        AZURE_PASSWORD: 'pw',
        AZURE_CLOUD_ENVIRONMENT: 'AzureChinaCloud',
      },
    ],
    [
      'vmware',
      SERVER,
      {
        VMWARE_HOST: SERVER.host,
        VMWARE_USER: 'u',
        VMWARE_PASSWORD: 'pw',
        VMWARE_VALIDATE_CERTS: 'True',
      },
    ],
    [
      'satellite6',
      SERVER,
      { FOREMAN_SERVER: SERVER.host, FOREMAN_USER: 'u', FOREMAN_PASSWORD: 'pw' },
    ],
    [
      'insights',
      { username: 'u', password: 'pw' },
      { INSIGHTS_USER: 'u', INSIGHTS_PASSWORD: 'pw' },
    ],
    [
      'kubernetes_bearer_token',
      { host: SERVER.host, bearer_token: 'pw', verify_ssl: false, ssl_ca_cert: 'pw' },
      { K8S_AUTH_HOST: SERVER.host, K8S_AUTH_API_KEY: 'pw', K8S_AUTH_VERIFY_SSL: 'False' },
    ],
    [
      'controller',
      { host: SERVER.host, oauth_token: 'pw', request_timeout: '3' },
      {
        ...{ TOWER_HOST: SERVER.host, TOWER_OAUTH_TOKEN: 'pw', TOWER_VERIFY_SSL: 'True' },
        ...{ CONTROLLER_HOST: SERVER.host, CONTROLLER_OAUTH_TOKEN: 'pw' },
        ...{ CONTROLLER_VERIFY_SSL: 'True', CONTROLLER_REQUEST_TIMEOUT: '3' },
        ...{ AAP_HOSTNAME: SERVER.host, AAP_TOKEN: 'pw', AAP_VALIDATE_CERTS: 'True' },
        AAP_REQUEST_TIMEOUT: '3',
      },
    ],
  ])('%s with %p into the environment', (namespace, inputs, expected) => {
    const { env, safeEnv, files } = injected(namespace, inputs);
    expect(env).toEqual(expected);
    const hidden = Object.entries(expected).map(([name, value]) => [
      name,
      value === 'pw' || value === 'sts' ? HIDDEN : value,
    ]);
    expect(safeEnv).toEqual(Object.fromEntries(hidden));
    expect(files).toEqual([]);
  });

  it('a key file for Google, which names the project if there is one', () => {
    const { env, files } = injected('gce', { username: 'me@x', ssh_key_data: KEY });
    expect(JSON.parse(files[0]?.content ?? '')).toEqual({
      type: 'service_account',
      private_key: KEY.endsWith('\n') ? KEY : `${KEY}\n`,
      client_email: 'me@x',
      project_id: '',
      token_uri: 'https://oauth2.googleapis.com/token',
    });
    const path = '/env/template';
    const common = {
      ...{ GCE_CREDENTIALS_FILE_PATH: path, GCP_SERVICE_ACCOUNT_FILE: path },
      ...{ GOOGLE_APPLICATION_CREDENTIALS: path, GCP_AUTH_KIND: 'serviceaccount' },
      ...{ GCP_ENV_TYPE: 'tower', GCE_EMAIL: 'me@x' },
    };
    expect(env).toEqual(common);
    const named = injected('gce', { username: 'me@x', project: 'p', ssh_key_data: KEY });
    expect(named.env).toEqual({ ...common, GCP_PROJECT: 'p', GCE_PROJECT: 'p' });
    expect(named.files[0]?.content).toContain('"project_id": "p"');
  });

  it('a file of clouds for OpenStack, with the inputs that are set', () => {
    const inputs = { ...SERVER, password: 'p"w', project: 'p' };
    const file = `clouds:
  devstack:
    auth:
      auth_url: "https://cloud.example.com"
      username: "u"
      password: "p\\"w"
      project_name: "p"`;
    expect(injected('openstack', { ...inputs, verify_ssl: false })).toMatchObject({
      env: { OS_CLIENT_CONFIG_FILE: '/env/template' },
      files: [{ content: `${file}\n    verify: False` }],
    });
    const all = { ...inputs, project_domain_name: 'pd', domain: 'd', region: 'r' };
    const [{ content } = { content: '' }] = injected('openstack', all).files;
    expect(content).toBe(
      `${file}\n      project_domain_name: "pd"\n      domain_name: "d"\n` +
        '    verify: True\n    region_name: "r"',
    );
  });

  it('an INI file for Red Hat Virtualization, with escaped percent signs', () => {
    const { env, files } = injected('rhv', { ...SERVER, password: '50%', ca_file: '/opt/ca.pem' });
    expect(env).toEqual({
      ...{ OVIRT_INI_PATH: '/env/template', OVIRT_URL: SERVER.host },
      ...{ OVIRT_USERNAME: 'u', OVIRT_PASSWORD: '50%' },
    });
    expect(files[0]?.content).toBe(
      '[ovirt]\novirt_url = https://cloud.example.com\novirt_username = u\n' +
        'ovirt_password = 50%%\novirt_ca_file = /opt/ca.pem',
    );
    expect(injected('rhv', SERVER).files[0]?.content).not.toContain('ca_file');
  });

  it('files for Terraform and Kubernetes, each only if it has contents', () => {
    const terraform = injected('terraform', { configuration: 'a = 1\nb = 2\n' });
    expect(terraform.env).toEqual({ TF_BACKEND_CONFIG_FILE: '/env/template.config' });
    expect(terraform.files).toEqual([{ name: 'template.config', content: 'a = 1\nb = 2\n' }]);
    const both = injected('terraform', { configuration: 'a = 1', gce_credentials: '{}' });
    expect(both.env).toMatchObject({ GOOGLE_BACKEND_CREDENTIALS: '/env/template.gce' });
    const kubernetes = { host: SERVER.host, bearer_token: 'pw', ssl_ca_cert: 'CA\n' };
    expect(injected('kubernetes_bearer_token', kubernetes)).toMatchObject({
      env: { K8S_AUTH_VERIFY_SSL: 'True', K8S_AUTH_SSL_CA_CERT: '/env/template.ca' },
      files: [{ name: 'template.ca', content: 'CA\n' }],
    });
  });

  it('variables for controllers and Insights', () => {
    expect(injected('insights', { username: 'u', password: 'pw' }).extraVars).toEqual({
      scm_username: 'u',
      scm_password: 'pw',
    });
    expect(injected('controller', SERVER).extraVars).toEqual({
      ...{ aap_hostname: SERVER.host, aap_username: 'u', aap_password: 'pw' },
      ...{ aap_request_timeout: '10', aap_validate_certs: 'True' },
    });
  });
});
