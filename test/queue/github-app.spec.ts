/**
 * A GitHub App in place of a personal token: real git and the services of a worker, with a stand-in for
 * `ansible-runner`, because nothing depends on the playbook. A cheaper test cannot see how often a run
 * logs in to a store.
 */
import { rm } from 'node:fs/promises';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { serveOverHttp, TestRepository, type GitHttpServer } from '../runner/git-servers.js';
import { eventually } from '../support/eventually.js';
import { FakeSecretStores } from '../support/fakes/fake-secret-stores.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { VENDOR_STORES } from '../support/fakes/vendor-samples.js';
import { deliveryHeaders } from '../support/payloads/webhooks.js';
import { STATUS_EVENTS } from '../support/status-posts.js';

const { value: TOKEN, inputs: appInputs } = VENDOR_STORES.github_app!;
const ISSUE = 'POST /api/v3/app/installations/42/access_tokens';

let stores: FakeSecretStores;
let sink: HttpSink;
let cluster: Cluster;
let server: GitHttpServer;
let api: ApiCalls;

beforeAll(async () => {
  stores = await FakeSecretStores.start();
  stores.secrets['kv/data/app'] = { data: { password: 'of the machine' } };
  sink = await HttpSink.start();
  cluster = await Cluster.start({ fakeSeconds: 0 });
  await TestRepository.create(`${cluster.folder}/served/site`, { 'site.yml': '- hosts: all\n' });
  server = await serveOverHttp(`${cluster.folder}/served`, `x-access-token:${TOKEN}`);
  const environment = { PROJECT_SCM_SCHEMES: 'http', OUTBOUND_ALLOW: '127.0.0.0/8' };
  api = await ApiCalls.inside(cluster, environment);
  await cluster.workerInside(environment);
});
afterAll(async () => {
  await cluster.stop();
  await server.close();
  await sink.close();
  await stores.close();
});

async function credential(namespace: string, inputs: object): Promise<Row> {
  const { results } = await api.call('GET', `credential_types/?namespace=${namespace}`);
  const [type] = results as Row[];
  return api.call('POST', 'credentials/', {
    ...{ name: `${namespace} ${Math.random()}`, organization: 1, credential_type: type!.id },
    inputs,
  });
}

async function lookUp(target: Row, field: string, source: Row, metadata: object): Promise<void> {
  await api.call('POST', `credentials/${target.id}/input_sources/`, {
    ...{ input_field_name: field, source_credential: source.id, metadata },
  });
}

it('a GitHub App issues one token for a run with its sync, and one for each status post', async () => {
  const app = { ...appInputs(''), github_url: `${stores.url}/api/v3` };
  const project = await api.call('POST', 'projects/', {
    ...{ name: 'Site', organization: 1, scm_type: 'git', scm_url: `${server.url}/site/.git` },
    credential: (await credential('github_app_token', app)).id,
  });
  // A new project is synced immediately.
  const [sync] = await cluster.rows<{ id: number }>(
    `SELECT id FROM unified_jobs WHERE type = 'project_update'`,
  );
  await cluster.becomes(sync!.id, 'successful');
  expect(stores.takeLines()).toEqual([ISSUE]);
  // State of a worker that never synced the project.
  await rm(`${cluster.folder}/data/projects`, { recursive: true });

  const machine = await credential('ssh', { username: 'root' });
  const vault = { url: stores.url, api_version: 'v2', role_id: 'role', secret_id: 'secret-id' };
  await lookUp(machine, 'password', await credential('hashivault_kv', vault), {
    ...{ secret_backend: 'kv', secret_path: 'app', secret_key: 'password' },
  });
  const poster = await credential('service_a_token', { host: sink.url });
  await lookUp(poster, 'token', await credential('github_app', app), {});
  const inventory = await api.call('POST', 'inventories/', { name: 'None', organization: 1 });
  const template = await api.call('POST', 'job_templates/', {
    ...{ name: 'Deploy', project: project.id, inventory: inventory.id, playbook: 'site.yml' },
    ...{ webhook_service: 'service_a', webhook_credential: poster.id },
  });
  await api.call('POST', `job_templates/${template.id}/credentials/`, { id: machine.id });

  const { event, payload, path } = STATUS_EVENTS.service_a(sink.url);
  const body = Buffer.from(JSON.stringify(payload));
  const { webhook_key: key } = await api.call('GET', `job_templates/${template.id}/webhook_key/`);
  const delivered = await fetch(`${api.url}/api/v2/job_templates/${template.id}/service_a/`, {
    ...{ method: 'POST', headers: deliveryHeaders('service_a', event, body, String(key)), body },
  });
  const { job } = (await delivered.json()) as { job: number };
  await cluster.becomes(job, 'successful', 60_000);
  await eventually(() => expect(sink.requests).toHaveLength(2), 20_000);
  for (const request of sink.requests) {
    expect(request).toMatchObject({ path, headers: { authorization: `token ${TOKEN}` } });
  }
  const syncs = await cluster.rows(
    `SELECT launch_type FROM unified_jobs WHERE type = 'project_update' ORDER BY id`,
  );
  expect(syncs).toEqual([{ launch_type: 'manual' }, { launch_type: 'sync' }]);
  const taken = stores.takeLines();
  const ofVault = taken.filter((line) => line.includes('/v1/') && line !== ISSUE);
  expect(ofVault.slice(0, 2)).toEqual(['POST /v1/auth/approle/login', 'GET /v1/kv/data/app']);
  // The run and its sync use one token.
  expect(taken.filter((line) => line === ISSUE)).toHaveLength(1 + sink.requests.length);
});
