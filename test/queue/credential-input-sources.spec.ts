/**
 * Budget: 40 s, because the real Ansible runs six times, and a command of an operator is a process.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { INestApplicationContext } from '@nestjs/common';
import { createRemoteJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';

import type { Row } from '../../src/common/resource/define-resource.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { JsonLogger } from '../../src/logging/json-logger.js';
import { LogLines } from '../../src/logging/log-lines.service.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster, type JobRow } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';
import { FakeSecretStores } from '../support/fakes/fake-secret-stores.js';
import { HttpSink } from '../support/fakes/http-sink.js';

const execute = promisify(execFile);
const SECRET = 'fetched-just-before-the-run';
const PLAYBOOKS = {
  'site.yml': `- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - debug: {msg: "user {{ lookup('env', 'APP_USER') }} has {{ lookup('env', 'APP_TOKEN') }}"}
    - assert: {that: "lookup('env', 'APP_TOKEN') == '${SECRET}'"}
`,
  'facts.yml': `- hosts: one
  connection: local
  gather_facts: false
  tasks:
    - debug: {msg: "has {{ lookup('env', 'APP_TOKEN') }}"}
    - set_fact: {site: north, token: "{{ lookup('env', 'APP_TOKEN') }}", cacheable: true}
`,
  'identity.yml': `- hosts: localhost
  connection: local
  gather_facts: false
  vars:
    token: "{{ lookup('file', lookup('env', 'RUN_IDENTITY_TOKEN_FILE')) }}"
    payload: "{{ (token.split('.')[1] | replace('-', '+') | replace('_', '/')) + '==' }}"
    claims: "{{ payload | b64decode | from_json }}"
  tasks:
    - debug: {msg: "{{ claims.aud }} job {{ claims.job }} template {{ claims.template }} as {{ lookup('env', 'APP_USER') }}"}
    - debug: {msg: "token {{ token }}"}
`,
};

/** Launched over HTTP and run by a worker with the real Ansible. */
describe('inputs from a secret store', () => {
  let stores: FakeSecretStores;
  let cluster: Cluster;
  let api: ApiCalls;
  let template: Row;
  let inventory: Row;
  let worker: INestApplicationContext;

  beforeAll(async () => {
    stores = await FakeSecretStores.start();
    stores.secrets['kv/data/app'] = { data: { token: SECRET, user: 'fetched-user' } };
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    worker = await cluster.workerInside({ OUTBOUND_ALLOW: '127.0.0.0/8' });
    template = await prepare();
  });
  afterAll(async () => {
    await cluster.stop();
    await stores.close();
  });

  /** A template with a credential of a custom type, whose inputs are in the store. */
  async function prepare(): Promise<Row> {
    const type = await api.call('POST', 'credential_types/', {
      ...{ name: 'App', kind: 'cloud' },
      inputs: {
        fields: [
          { id: 'user', label: 'User' },
          { id: 'token', label: 'Token', secret: true },
        ],
        required: ['token'],
      },
      injectors: { env: { APP_USER: '{{ user }}', APP_TOKEN: '{{ token }}' } },
    });
    const target = await credential(type, 'App', {});
    const { results } = await api.call('GET', 'credential_types/?namespace=hashivault_kv');
    const inputs = {
      ...{ url: stores.url, api_version: 'v2', role_id: 'role', secret_id: 'secret-id' },
    };
    const [vault] = results as Row[];
    const source = await credential(vault!, 'Vault of ops', inputs);
    for (const field of ['user', 'token']) {
      await api.call('POST', `credentials/${target.id}/input_sources/`, {
        ...{ input_field_name: field, source_credential: source.id },
        metadata: { secret_backend: 'kv', secret_path: 'app', secret_key: field },
      });
    }
    inventory = await api.call('POST', 'inventories/', { name: 'None', organization: 1 });
    const made = await api.call('POST', 'job_templates/', {
      ...{ name: 'Looks up', project: 1, inventory: inventory.id, playbook: 'site.yml' },
    });
    await api.call('POST', `job_templates/${made.id}/credentials/`, { id: target.id });
    return made;
  }

  const credential = (type: Row, name: string, inputs: object): Promise<Row> =>
    api.call('POST', 'credentials/', { credential_type: type.id, name, organization: 1, inputs });

  async function play(status: string): Promise<JobRow> {
    stores.takeLines();
    const job = await api.call('POST', `job_templates/${template.id}/launch/`, {});
    return cluster.becomes(job.id, status, 60_000);
  }

  it('reach the run, are read once, and appear nowhere', async () => {
    const { id } = await play('successful');
    await eventually(() => expect(stores.requests).toHaveLength(3));
    expect(stores.takeLines()).toEqual([
      ...['POST /v1/auth/approle/login', 'GET /v1/kv/data/app'],
      'POST /v1/auth/token/revoke-self',
    ]);
    const output = await api.text('GET', `jobs/${id}/stdout/?format=txt`);
    expect(output).toContain('user ********** has **********');
    const [{ kept } = { kept: '' }] = await cluster.rows<{ kept: string }>(
      `SELECT concat(to_json(run), (SELECT string_agg(event_data::text || stdout, '') FROM job_events
         WHERE job_id = run.id)) AS kept FROM unified_jobs run WHERE id = $1`,
      [id],
    );
    expect(kept).toContain('Looks up');
    expect(kept).not.toContain(SECRET);
    expect(kept).not.toContain('fetched-user');
  });

  it('are read with the identity of the run, which playbooks get only by a credential', async () => {
    const managed = async (namespace: string): Promise<Row> => {
      const { results } = await api.call('GET', `credential_types/?namespace=${namespace}`);
      return (results as Row[])[0]!;
    };
    stores.logins.jwt = 'any';
    const login = { url: stores.url, api_version: 'v2', jwt_role: 'runs', jwt_aud: 'vault' };
    const vault = await credential(await managed('hashivault-kv-oidc'), 'Vault by JWT', login);
    const token = await credential(await managed('run_identity_token'), 'Identity', {
      audience: 'cloud',
    });
    const [source] = (await api.call('GET', 'credential_input_sources/?input_field_name=user'))
      .results as Row[];
    await api.call('PATCH', `credential_input_sources/${source!.id}/`, {
      source_credential: vault.id,
    });
    await api.call('PATCH', `job_templates/${template.id}/`, { playbook: 'identity.yml' });
    await api.call('POST', `job_templates/${template.id}/credentials/`, { id: token.id });
    const { id } = await play('successful');
    const { body } = stores.requests.find(({ line }) => line === 'POST /v1/auth/jwt/login')!;
    const { jwt } = body as { jwt: string };
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', api.url));
    const { payload } = await jwtVerify(jwt, keys, { audience: 'vault' });
    expect(payload).toMatchObject({ job: String(id), template: String(template.id) });
    const output = await api.text('GET', `jobs/${id}/stdout/?format=txt`);
    expect(output).toContain(`cloud job ${id} template ${template.id} as **********`);
    expect(output).toContain('token **********');
    expect(output).not.toContain('eyJ');
    await api.call('POST', `job_templates/${template.id}/credentials/`, {
      ...{ id: token.id, disassociate: true },
    });
    const without = await play('failed');
    expect(await api.text('GET', `jobs/${without.id}/stdout/?format=txt`)).not.toContain('eyJ');
    await api.call('PATCH', `credential_input_sources/${source!.id}/`, {
      source_credential: source!.source_credential,
    });
    await api.call('PATCH', `job_templates/${template.id}/`, { playbook: 'site.yml' });
  });

  it('are verified after an operator added a signing key', async () => {
    const kids = async (): Promise<string[]> => {
      const { keys } = (await (
        await fetch(`${api.url}/.well-known/jwks.json`)
      ).json()) as JSONWebKeySet;
      return keys.map(({ kid }) => kid!);
    };
    const before = await kids();
    const program = join(PACKAGE_FOLDER, 'dist', 'cli.js');
    const { stdout } = await execute(process.execPath, [program, 'rotate-identity-key'], {
      env: cluster.environment(),
    });
    const added = /^added key ([\w-]{43}), which signs in an hour\n$/.exec(stdout)?.[1];
    expect((await kids()).sort()).toEqual([...before, added].sort());
  });

  it('are masked in events and facts for a log aggregator', async () => {
    const sink = await HttpSink.start();
    const lines = worker.get(LogLines, { strict: false });
    await api.call('PATCH', 'settings/logging/', {
      ...{ LOG_AGGREGATOR_ENABLED: true, LOG_AGGREGATOR_TYPE: 'other' },
      ...{
        LOG_AGGREGATOR_HOST: sink.url,
        LOG_AGGREGATOR_LOGGERS: ['job_events', 'system_tracking'],
      },
    });
    lines.start(new JsonLogger('error'));
    await eventually(() => expect(lines.wants('system_tracking')).toBe(true));
    await api.call('POST', `inventories/${inventory.id}/hosts/`, { name: 'one' });
    const facts = { playbook: 'facts.yml', use_fact_cache: true };
    await api.call('PATCH', `job_templates/${template.id}/`, facts);
    const { id } = await play('successful');
    const received = (): Row[] => sink.requests.flatMap(({ body }) => JSON.parse(body) as Row[]);
    const ofSource = (name: string): Row[] =>
      received().filter((record) => record.logger_name === `awx.analytics.${name}`);
    await eventually(() => expect(ofSource('system_tracking')).toHaveLength(1), 10_000);
    expect(ofSource('system_tracking')).toMatchObject([
      { host_name: 'one', job: id, facts: { site: 'north', token: '**********' } },
    ]);
    const stored = await cluster.rows<{ counter: number; event: string }>(
      'SELECT counter, event FROM job_events WHERE job_id = $1 ORDER BY counter',
      [id],
    );
    const sent = ofSource('job_events').map(({ job, counter, event }) => ({ job, counter, event }));
    expect(sent).toEqual(stored.map(({ counter, event }) => ({ job: id, counter, event })));
    const output = JSON.stringify(received());
    expect(output).toContain('has **********');
    expect(output).not.toContain(SECRET);
    await api.call('DELETE', 'settings/logging/');
    await sink.close();
    await api.call('PATCH', `job_templates/${template.id}/`, { playbook: 'site.yml' });
  });

  it('end the run with an explanation, and notifications show nothing more about the store', async () => {
    const sink = await HttpSink.start();
    const message = { body: '{"why": {{ job.job_explanation | tojson }}}' };
    const notification = await api.call('POST', 'notification_templates/', {
      ...{ name: 'Chat', organization: 1, notification_type: 'webhook' },
      notification_configuration: { url: sink.url, http_method: 'POST', headers: {} },
      messages: { error: message },
    });
    await api.call('POST', `job_templates/${template.id}/notification_templates_error/`, {
      id: notification.id,
    });
    stores.faults.push('echo');
    const { id } = await play('error');
    const { job_explanation: why } = await api.call('GET', `jobs/${id}/`);
    expect(why).toBe('Could not get "token" of credential "App" from "Vault of ops": HTTP 403.');
    await eventually(() => expect(sink.requests).toHaveLength(1), 10_000);
    expect(JSON.parse(sink.last.body)).toEqual({ why });
    const { results } = await api.call('GET', `jobs/${id}/notifications/`);
    expect(JSON.stringify([results, sink.last])).not.toContain('secret-id');
    await sink.close();
  });
});
