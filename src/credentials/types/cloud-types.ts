import {
  harmless,
  destination,
  managed,
  PASSWORD,
  PRIVATE_KEY,
  secret,
  secretFile,
  text,
  USERNAME,
  VERIFY_SSL,
} from './managed-type.js';

const AWS = managed({
  name: 'Amazon Web Services',
  kind: 'cloud',
  namespace: 'aws',
  inputs: {
    fields: [
      harmless(text('username', 'Access Key')),
      secret('password', 'Secret Key'),
      secret('security_token', 'STS Token', 'Token of a temporary access key.'),
    ],
    required: ['username', 'password'],
  },
  injectors: {
    env: {
      AWS_ACCESS_KEY_ID: '{{ username }}',
      AWS_SECRET_ACCESS_KEY: '{{ password }}',
      AWS_SECURITY_TOKEN: '{{ security_token }}',
      AWS_SESSION_TOKEN: '{{ security_token }}',
    },
  },
});

const AZURE_RM = managed({
  name: 'Microsoft Azure Resource Manager',
  kind: 'cloud',
  namespace: 'azure_rm',
  inputs: {
    fields: [
      harmless(text('subscription', 'Subscription ID')),
      USERNAME,
      PASSWORD,
      harmless(text('client', 'Client ID')),
      secret('secret', 'Client Secret'),
      text('tenant', 'Tenant ID'),
      text('cloud_environment', 'Cloud Environment', 'For clouds other than the public one.'),
    ],
    required: ['subscription'],
  },
  // A service principal takes precedence over a user.
  injectors: {
    env: {
      AZURE_SUBSCRIPTION_ID: '{{ subscription }}',
      AZURE_CLIENT_ID: '{{ client if client and tenant }}',
      AZURE_TENANT: '{{ tenant if client and tenant }}',
      AZURE_SECRET: '{{ secret if client and tenant }}',
      AZURE_AD_USER: '{{ username if not (client and tenant) }}',
      AZURE_PASSWORD: '{{ password if not (client and tenant) }}',
      AZURE_CLOUD_ENVIRONMENT: '{{ cloud_environment }}',
    },
  },
});

const GCE = managed({
  name: 'Google Compute Engine',
  kind: 'cloud',
  namespace: 'gce',
  inputs: {
    fields: [
      harmless(text('username', 'Service Account Email Address')),
      harmless(text('project', 'Project')),
      { ...PRIVATE_KEY, label: 'Private Key' },
    ],
    required: ['username', 'ssh_key_data'],
  },
  injectors: {
    file: {
      template: `{
  "type": "service_account",
  "private_key": {{ ssh_key_data | tojson }},
  "client_email": {{ username | tojson }},
  "project_id": {{ (project or "") | tojson }},
  "token_uri": "https://oauth2.googleapis.com/token"
}`,
    },
    env: {
      GCE_CREDENTIALS_FILE_PATH: '{{ tower.filename }}',
      GCP_SERVICE_ACCOUNT_FILE: '{{ tower.filename }}',
      GOOGLE_APPLICATION_CREDENTIALS: '{{ tower.filename }}',
      GCP_AUTH_KIND: 'serviceaccount',
      GCP_PROJECT: '{{ project }}',
      GCP_ENV_TYPE: 'tower',
      GCE_EMAIL: '{{ username }}',
      GCE_PROJECT: '{{ project }}',
    },
  },
});

const VMWARE = managed({
  name: 'VMware vCenter',
  kind: 'cloud',
  namespace: 'vmware',
  inputs: {
    fields: [text('host', 'vCenter Host'), USERNAME, PASSWORD, VERIFY_SSL],
    required: ['host', 'username', 'password'],
  },
  injectors: {
    env: {
      VMWARE_HOST: '{{ host }}',
      VMWARE_USER: '{{ username }}',
      VMWARE_PASSWORD: '{{ password }}',
      VMWARE_VALIDATE_CERTS: '{{ verify_ssl }}',
    },
  },
});

const OPENSTACK = managed({
  name: 'OpenStack',
  kind: 'cloud',
  namespace: 'openstack',
  inputs: {
    fields: [
      USERNAME,
      { ...PASSWORD, label: 'Password (API Key)' },
      text('host', 'Host (Authentication URL)'),
      harmless(text('project', 'Project (Tenant Name)')),
      harmless(text('project_domain_name', 'Project (Domain Name)')),
      text('domain', 'Domain Name'),
      harmless(text('region', 'Region Name')),
      VERIFY_SSL,
    ],
    required: ['username', 'password', 'host', 'project'],
  },
  injectors: {
    file: {
      template: `clouds:
  devstack:
    auth:
      auth_url: {{ host | tojson }}
      username: {{ username | tojson }}
      password: {{ password | tojson }}
      project_name: {{ project | tojson }}
{%- if project_domain_name %}
      project_domain_name: {{ project_domain_name | tojson }}
{%- endif %}
{%- if domain %}
      domain_name: {{ domain | tojson }}
{%- endif %}
    verify: {{ verify_ssl }}
{%- if region %}
    region_name: {{ region | tojson }}
{%- endif %}
`,
    },
    env: { OS_CLIENT_CONFIG_FILE: '{{ tower.filename }}' },
  },
});

const TERRAFORM = managed({
  name: 'Terraform backend configuration',
  kind: 'cloud',
  namespace: 'terraform',
  inputs: {
    fields: [
      destination(secretFile('configuration', 'Backend Configuration')),
      secretFile('gce_credentials', 'Google Cloud Platform Account Credentials'),
    ],
    required: ['configuration'],
  },
  injectors: {
    file: { 'template.config': '{{ configuration }}', 'template.gce': '{{ gce_credentials }}' },
    env: {
      TF_BACKEND_CONFIG_FILE: '{{ tower.filename.config }}',
      GOOGLE_BACKEND_CREDENTIALS: '{{ tower.filename.gce }}',
    },
  },
});

/** Credentials of clouds, with the names that modules and inventory plugins expect. */
export const CLOUD_TYPES = [AWS, AZURE_RM, GCE, VMWARE, OPENSTACK, TERRAFORM];
