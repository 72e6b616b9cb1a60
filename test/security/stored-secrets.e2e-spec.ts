/** A secret that an object stores must be sent again before the object may send it to a new destination. */
import { boot, type TestApp } from '../support/boot.js';

const KEPT = '$encrypted$';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

describe('the secret answers of a node', () => {
  it('are not passed to another template', async () => {
    const { as, home, make } = test;
    const survey = {
      name: 'Survey',
      description: '',
      spec: [
        { question_name: 'Word', variable: 'word', type: 'password', required: false, default: '' },
      ],
    };
    const [first, second] = [await make.jobTemplate(), await make.jobTemplate()];
    const user = await make.user();
    for (const template of [first, second]) {
      const url = `job_templates/${template.id}/`;
      await as.superuser.post(`${url}survey_spec/`, survey).expect(200);
      await as.superuser.patch(url, { survey_enabled: true }).expect(200);
      await make.grant('job_template', template, 'execute_role', { user });
    }
    const workflow = await make.workflowTemplate({ organization: home.organization.id });
    await make.grant('workflow_job_template', workflow, 'admin_role', { user });
    const node = await make.workflowNode(workflow, {
      unified_job_template: first.id,
      extra_data: { word: 'a secret answer' },
    });
    const url = `workflow_job_template_nodes/${node.id}/`;
    const client = await as.asUser(user);
    const refused = { extra_data: ['Another template requires new secret answers: word.'] };
    for (const rest of [{}, { extra_data: { word: KEPT } }]) {
      const { body } = await client
        .patch(url, { unified_job_template: second.id, ...rest })
        .expect(400);
      expect(body).toEqual(refused);
    }
    const anew = { unified_job_template: second.id, extra_data: { word: 'another' } };
    expect((await client.patch(url, anew).expect(200)).body.extra_data).toEqual({ word: KEPT });
  });
});

describe('the secrets of a notification template', () => {
  const CONFIGURATIONS: Record<string, Record<string, unknown>> = {
    webhook: {
      url: 'https://hooks.example.com/a',
      http_method: 'POST',
      headers: { Authorization: 'Bearer of the hook', 'X-Plain': 'a' },
      disable_ssl_verification: false,
      username: 'visible',
      password: 'hook-secret',
      signing_secret: 'signing-secret',
    },
    email: {
      host: 'mail.example.com',
      port: 587,
      username: 'visible',
      password: 'mail-secret',
      use_tls: true,
      use_ssl: false,
      sender: 'a@example.com',
      recipients: ['b@example.com'],
    },
    irc: {
      server: 'irc.example.com',
      port: 6697,
      nickname: 'visible',
      password: 'irc-secret',
      use_ssl: true,
      targets: ['#a'],
    },
    dashboard_a: { url: 'https://boards.example.com', key: 'board-secret' },
  };
  const MOVES: [type: string, change: Record<string, unknown>][] = [
    ['webhook', { url: 'https://attacker.example.com/a' }],
    ['webhook', { disable_ssl_verification: true }],
    ['webhook', { headers: { Authorization: KEPT, host: 'attacker.example.com' } }],
    ['email', { host: 'attacker.example.com' }],
    ['email', { port: 2525 }],
    ['email', { use_tls: false }],
    ['irc', { server: 'attacker.example.com' }],
    ['irc', { port: 6000 }],
    ['dashboard_a', { url: 'https://attacker.example.com' }],
  ];

  const make = async (type: string): Promise<{ url: string; shown: Record<string, unknown> }> => {
    const row = await test.make.notificationTemplate({
      organization: test.home.organization.id,
      notification_type: type,
      notification_configuration: CONFIGURATIONS[type],
    });
    const url = `notification_templates/${row.id}/`;
    const { body } = await test.as.orgAdmin.get(url).expect(200);
    return { url, shown: body.notification_configuration as Record<string, unknown> };
  };

  it.each(MOVES)('of the type %s must be sent again for %j', async (type, change) => {
    const { orgAdmin } = test.as;
    const { url, shown } = await make(type);
    const secrets = Object.keys(shown).filter((key) => shown[key] === KEPT);
    expect(secrets.length).toBeGreaterThan(0);
    const sent = { notification_configuration: { ...shown, ...change } };
    const { body } = await orgAdmin.patch(url, sent).expect(400);
    const [field] = Object.keys(change);
    for (const key of secrets) {
      expect(body.__all__).toContain(
        `Configuration field '${key}' must be entered again: '${field}' decides where it is sent.`,
      );
    }
    const anew = Object.fromEntries(secrets.map((key) => [key, 'given anew']));
    const headers = type === 'webhook' ? { headers: { Authorization: 'given anew' } } : {};
    const accepted = { notification_configuration: { ...shown, ...change, ...anew, ...headers } };
    await orgAdmin.patch(url, accepted).expect(200);
  });

  it('stay after changes that do not affect their destination', async () => {
    const { orgAdmin } = test.as;
    for (const [type, change] of [
      ['webhook', { http_method: 'PUT' }],
      ['email', { recipients: ['c@example.com'] }],
    ] as const) {
      const { url, shown } = await make(type);
      await orgAdmin
        .patch(url, { notification_configuration: { ...shown, ...change } })
        .expect(200);
    }
  });

  it('of a copy must be sent again too', async () => {
    const { orgAdmin } = test.as;
    const { url, shown } = await make('webhook');
    const { body } = await orgAdmin.post(`${url}copy/`, { name: 'a copy' }).expect(201);
    const change = { ...shown, url: 'https://attacker.example.com/a' };
    const refused = await orgAdmin
      .patch(body.url, { notification_configuration: change })
      .expect(400);
    expect(refused.body.__all__).toContain(
      "Configuration field 'headers.Authorization' must be entered again: 'url' decides where it is sent.",
    );
    await test.as.superuser.patch(body.url, { notification_configuration: change }).expect(200);
  });
});

describe('the secrets of a credential', () => {
  const token = async (): Promise<string> => {
    const row = await test.make.credential({
      organization: test.home.organization.id,
      namespace: 'service_a_token',
      inputs: { token: 'status-secret', host: 'https://git.example.com' },
    });
    return `credentials/${row.id}/`;
  };

  it('must be sent again for another host', async () => {
    const { orgAdmin } = test.as;
    const url = await token();
    const host = 'https://attacker.example.com';
    const { body } = await orgAdmin.patch(url, { inputs: { token: KEPT, host } }).expect(400);
    expect(body).toEqual({
      inputs: { token: ['token must be entered again: host decides where it is sent.'] },
    });
    await orgAdmin.patch(url, { inputs: { token: KEPT } }).expect(400);
    await orgAdmin.patch(url, { inputs: { token: 'anew', host } }).expect(200);
    await orgAdmin.patch(url, { inputs: { token: KEPT, host } }).expect(200);
  });

  it('must be sent again for another type, which would show them', async () => {
    const { as, make } = test;
    const open = await make.row('credential_type', {
      name: 'Shows its token',
      kind: 'cloud',
      inputs: {
        fields: [
          { id: 'token', label: 'Token', type: 'string' },
          { id: 'host', label: 'Host', type: 'string' },
        ],
      },
      injectors: {},
    });
    const url = await token();
    const { body } = await as.orgAdmin.patch(url, { credential_type: open.id }).expect(400);
    expect(body).toEqual({
      inputs: { token: [`${KEPT} is a reserved keyword, and cannot be used for token.`] },
    });
    const sent = { credential_type: open.id, inputs: { token: KEPT } };
    await as.orgAdmin.patch(url, sent).expect(400);
    const anew = { credential_type: open.id, inputs: { token: 'public' } };
    await as.orgAdmin.patch(url, anew).expect(200);
  });
});

describe('inputs from a secret store', () => {
  const place = { secret_path: 'kv/token', secret_key: 'token' };
  /** A credential whose administrator has no role on the store that one of its inputs comes from. */
  async function lookedUp(field: string, inputs: object) {
    const { make, home, as } = test;
    const organization = home.organization.id;
    const store = await make.credential({
      ...{ organization, namespace: 'hashivault_kv' },
      inputs: { url: 'https://vault.example.com', token: 'store-secret' },
    });
    const target = await make.credential({ organization, namespace: 'service_a_token', inputs });
    const user = await make.user();
    await make.grant('credential', target, 'admin_role', { user });
    const draft = {
      ...{ input_field_name: field, metadata: place },
      ...{ target_credential: target.id, source_credential: store.id },
    };
    const useStore = (): Promise<unknown> => make.grant('credential', store, 'use_role', { user });
    const url = `credentials/${target.id}/`;
    return { url, draft, useStore, client: await as.asUser(user) };
  }

  it('count as stored secrets after a change of the address', async () => {
    const { url, draft, client, useStore } = await lookedUp('token', {
      host: 'https://git.example.com',
    });
    await test.as.superuser.post('credential_input_sources/', draft).expect(201);
    const sent = { inputs: { host: 'https://attacker.example.com' } };
    const { body } = await client.patch(url, sent).expect(403);
    expect(body).toEqual({
      detail:
        'Changing host requires permission to use the credentials that inputs are looked up with.',
    });
    await client.patch(url, { description: 'changed' }).expect(200);
    await useStore();
    await client.patch(url, sent).expect(200);
  });

  it('cannot be the address for stored secrets', async () => {
    const { url, draft, client, useStore } = await lookedUp('host', { token: 'kept' });
    await useStore();
    const refused = {
      input_field_name: ['token must be entered again: host decides where it is sent.'],
    };
    const { body } = await client.post('credential_input_sources/', draft).expect(400);
    expect(body).toEqual(refused);
    await client.patch(url, { inputs: { token: '' } }).expect(200);
    const made = await client.post('credential_input_sources/', draft).expect(201);
    await client.patch(url, { inputs: { token: 'anew' } }).expect(200);
    const other = { metadata: { ...place, secret_path: 'kv/other' } };
    expect((await client.patch(made.body.url, other).expect(400)).body).toEqual(refused);
    await client.patch(made.body.url, { description: 'changed' }).expect(200);
    await client.delete(made.body.url).expect(400);
    await test.as.superuser.patch(made.body.url, other).expect(200);
    await client.patch(url, { inputs: { token: '' } }).expect(200);
    await client.delete(made.body.url).expect(204);
  });

  it('cannot be the address for stored secrets that another source hides', async () => {
    const { draft, client, useStore } = await lookedUp('host', { token: 'kept' });
    await useStore();
    const hiding = { ...draft, input_field_name: 'token' };
    await client.post('credential_input_sources/', hiding).expect(201);
    const { body } = await client.post('credential_input_sources/', draft).expect(400);
    expect(body).toEqual({
      input_field_name: ['token must be entered again: host decides where it is sent.'],
    });
  });
});
