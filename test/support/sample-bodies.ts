import type { TableRoute } from '../../src/common/http/route-table.js';
import type { Samples } from './samples.js';

type Body = Record<string, unknown>;

/** A body with which a superuser can make an object of a type; other types take their name. */
const BODIES: Record<string, (samples: Samples) => Promise<Body>> = {
  user: async (samples) => ({
    username: samples.name('made-user').replace(' ', '-'),
    password: '',
  }),
  credential_type: async () => ({ kind: 'cloud' }),
  credential: async (samples) => ({
    organization: samples.home,
    credential_type: (await samples.of('credential_type')).id,
    inputs: {},
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
  workflow_job_template_node: async (samples) => ({
    workflow_job_template: (await samples.of('workflow_job_template')).id,
    identifier: samples.name('made'),
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

/**
 * What a route is sent by the tests that go over all routes: enough for a create or a replacement,
 * the id of a sample for an association, nothing for a change and for other actions.
 */
export async function bodyOf(
  samples: Samples,
  { method, info }: TableRoute,
): Promise<Body | undefined> {
  if (method === 'GET' || method === 'DELETE') return undefined;
  const type = info?.resource?.type;
  if (!type || info.kind === 'action' || info.kind === 'document') return {};
  if (info.kind === 'associate') return { id: (await samples.of(type)).id };
  if (info.kind === 'modify') return {};
  const fields = (await BODIES[type]?.(samples)) ?? { organization: samples.home };
  return { name: samples.name('Made'), ...fields };
}
