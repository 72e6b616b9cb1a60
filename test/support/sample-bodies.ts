import type { TableRoute } from '../../src/common/rest/route-table.service.js';
import type { Samples } from './samples.js';

type Body = Record<string, unknown>;

/** Returns the body of an application with a secret. */
export const confidentialClient = (name: string): Record<string, string> => ({
  name,
  client_type: 'confidential',
  authorization_grant_type: 'authorization-code',
  redirect_uris: 'https://client.example.com/callback',
});
export const IDENTITY_PROVIDER = { issuer: 'https://login.example.com', client_id: 'controller' };

/** Bodies with which a superuser can create objects, by type. Other types need only a name. */
const BODIES: Record<string, (samples: Samples) => Promise<Body>> = {
  user: async (samples) => ({
    username: samples.name('made-user').replace(' ', '-'),
    password: '',
  }),
  credential_type: async () => ({ kind: 'cloud' }),
  credential: async (samples) => ({
    organization: samples.home,
    // A new credential type, as a template accepts one credential of each.
    credential_type: (await samples.createCredentialType()).id,
    inputs: {},
  }),
  credential_input_source: async (samples) => ({
    ...(await samples.lookup()),
    target_credential: (await samples.test.make.credential({ organization: samples.home })).id,
  }),
  o_auth2_application: async (samples) => ({
    organization: samples.home,
    ...confidentialClient(samples.name('App')),
  }),
  authenticator: async () => ({ configuration: IDENTITY_PROVIDER }),
  authenticator_map: async (samples) => ({
    authenticator: (await samples.of('authenticator')).id,
    map_type: 'deny',
  }),
  external_identity: async (samples) => ({
    authenticator: (await samples.of('authenticator')).id,
    subject: samples.name('subject'),
    user: (await samples.of('user')).id,
  }),
  execution_environment: async (samples) => ({
    organization: samples.home,
    image: 'quay.io/team/ee',
  }),
  ad_hoc_command: async (samples) => ({
    inventory: (await samples.of('inventory')).id,
    credential: (await samples.test.make.credential({ organization: samples.home })).id,
    module_name: 'ping',
  }),
  host: async (samples) => ({ inventory: (await samples.of('inventory')).id }),
  group: async (samples) => ({ inventory: (await samples.of('inventory')).id }),
  project: async (samples) => ({
    organization: samples.home,
    local_path: samples.name('made').replace(' ', '_'),
  }),
  job_template: async (samples) => ({
    project: (await samples.of('project')).id,
    inventory: (await samples.of('inventory')).id,
    playbook: 'site.yml',
  }),
  inventory_source: async (samples) => ({
    inventory: (await samples.of('inventory')).id,
    source: 'ec2',
  }),
  workflow_job_template_node: async (samples) => ({
    workflow_job_template: (await samples.of('workflow_job_template')).id,
    identifier: samples.name('made'),
  }),
  schedule: async (samples) => ({
    unified_job_template: (await samples.of('job_template')).id,
    rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
  }),
  notification_template: async (samples) => ({
    organization: samples.home,
    notification_type: 'webhook',
    notification_configuration: {
      url: 'http://127.0.0.1:9/hook',
      http_method: 'POST',
      headers: {},
      disable_ssl_verification: false,
    },
  }),
};

const spec = [{ question_name: 'Why?', type: 'text', variable: 'reason', required: false }];

/** Bodies of actions that need one, by operation. */
const ACTIONS: Record<string, (samples: Samples) => Promise<Body>> = {
  bulk_host_create: async (samples) => ({
    inventory: (await samples.of('inventory')).id,
    hosts: [{ name: samples.name('bulk').replace(' ', '-') }],
  }),
  bulk_host_delete: async (samples) => ({ hosts: [(await samples.of('host')).id] }),
  bulk_job_launch: async (samples) => ({
    name: samples.name('Bulk'),
    organization: samples.home,
    jobs: [{ unified_job_template: (await samples.of('job_template')).id }],
  }),
  users_authorized_tokens_create: async (samples) => ({
    application: (await samples.of('o_auth2_application')).id,
  }),
  job_templates_survey_spec_replace: async () => ({ name: 'Survey', description: '', spec }),
  workflow_job_templates_survey_spec_replace: async () => ({
    name: 'Survey',
    description: '',
    spec,
  }),
};

/**
 * Returns the body for a route in tests of all routes: sufficient for a create or a replacement, the id of a
 * sample for an association, none for a change and for other actions.
 */
export async function bodyOf(
  samples: Samples,
  { method, info }: TableRoute,
): Promise<Body | undefined> {
  if (method === 'GET' || method === 'DELETE') return undefined;
  const action = ACTIONS[info?.operationId ?? ''];
  if (action) return action(samples);
  const type = info?.resource?.type;
  if (!type || info.kind === 'action' || info.kind === 'document') return {};
  if (info.kind === 'associate') return { id: (await samples.of(type)).id };
  if (info.kind === 'modify') return {};
  const fields = (await BODIES[type]?.(samples)) ?? { organization: samples.home };
  const body = { name: samples.name('Made'), ...fields };
  // Below a user or a team the credential belongs to them.
  const isOwned = type === 'credential' && /^(?:user|team)$/.test(info.parent?.type ?? '');
  return isOwned ? { ...body, organization: undefined } : body;
}
