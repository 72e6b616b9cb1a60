/** Credential inputs are looked up in secret stores (docs/contract/resources.md#credential-input-sources). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { FakeSecretStores } from '../support/fakes/fake-secret-stores.js';

let test: TestApp;
let stores: FakeSecretStores;
let target: Row;
let store: Row;
beforeAll(async () => {
  stores = await FakeSecretStores.start();
  Object.assign(stores.secrets, { 'kv/data/db': { data: { password: 'never shown' } } });
  test = await boot({ settings: { OUTBOUND_ALLOW: '127.0.0.0/8', CREDENTIAL_TEST_RATE: '1000' } });
});
afterAll(async () => {
  await test.close();
  await stores.close();
});
beforeEach(async () => {
  const organization = test.home.organization.id;
  target = await test.make.credential({ organization });
  store = await vault({ organization, inputs: { url: stores.url, token: 'root-token' } });
});

const vault = ({ inputs = {}, ...fields }: Record<string, unknown>): Promise<Row> =>
  test.make.credential({
    ...{ namespace: 'hashivault_kv', ...fields },
    inputs: { api_version: 'v2', ...(inputs as object) },
  });

const place = { secret_backend: 'kv', secret_path: 'db', secret_key: 'password' };
const draft = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ input_field_name: 'password', target_credential: target.id, source_credential: store.id },
  ...{ metadata: place, ...fields },
});

it('input sources are created, found, changed and deleted', async () => {
  const { orgAdmin } = test.as;
  const made = await orgAdmin.post('credential_input_sources/', draft()).expect(201);
  const { id, url } = made.body;
  expect(made.headers.location).toBe(url);
  expect(made.body).toMatchObject({
    ...{ type: 'credential_input_source', description: '', metadata: place },
    ...{ input_field_name: 'password', target_credential: target.id, source_credential: store.id },
    related: {
      source_credential: `/api/v2/credentials/${store.id}/`,
      target_credential: `/api/v2/credentials/${target.id}/`,
    },
    summary_fields: {
      source_credential: { id: store.id, kind: 'hashivault_kv' },
      user_capabilities: { edit: true, delete: true },
    },
  });
  const query = `?target_credential=${target.id}&input_field_name=password`;
  for (const list of ['credential_input_sources/', `credentials/${target.id}/input_sources/`]) {
    expect((await orgAdmin.get(list + query).expect(200)).body).toMatchObject({
      count: 1,
      results: [{ id, metadata: place }],
    });
  }
  const shown = await orgAdmin.get(`credentials/${target.id}/`).expect(200);
  expect(shown.body.summary_fields.input_sources).toEqual({
    password: { id, name: store.name, kind: 'hashivault_kv' },
  });
  const changed = await orgAdmin
    .patch(url, { metadata: { ...place, secret_version: '2' }, input_field_name: 'username' })
    .expect(200);
  expect(changed.body.metadata).toEqual({ ...place, secret_version: '2' });
  await orgAdmin.put(url, draft()).expect(200);
  await orgAdmin.delete(url).expect(204);
  await orgAdmin.get(url).expect(404);
  const below = `credentials/${target.id}/input_sources/`;
  const other = await orgAdmin
    .post(below, { ...draft({ input_field_name: 'username' }), target_credential: 0 })
    .expect(201);
  expect(other.body.target_credential).toBe(target.id);
});

it.each<[string, () => Record<string, unknown>, object]>([
  [
    'a target that is a store',
    () => draft({ target_credential: store.id, input_field_name: 'token' }),
    { target_credential: ['Target must be a non-external credential'] },
  ],
  [
    'a source that is not a store',
    () => draft({ source_credential: target.id }),
    { source_credential: ['Source must be an external credential'] },
  ],
  [
    'an input that the target has not',
    () => draft({ input_field_name: 'nope' }),
    {
      input_field_name: [
        expect.stringMatching(
          /^Input field must be defined on target credential \(options are become_method, .*username\)\.$/,
        ),
      ],
    },
  ],
  [
    'no place',
    () => draft({ metadata: {} }),
    {
      metadata: {
        secret_path: ['required for HashiCorp Vault Secret Lookup'],
        secret_key: ['required for HashiCorp Vault Secret Lookup'],
      },
    },
  ],
  [
    'an invalid place',
    () => draft({ metadata: { ...place, more: 'x', secret_version: 3 } }),
    { metadata: { more: ["'more' was unexpected"], secret_version: ['Not a valid string.'] } },
  ],
  [
    'nothing',
    () => ({}),
    {
      input_field_name: ['This field is required.'],
      target_credential: ['This field is required.'],
      source_credential: ['This field is required.'],
    },
  ],
  [
    'a target that there is not',
    () => draft({ target_credential: 99_999 }),
    { target_credential: ['Invalid pk "99999" - object does not exist.'] },
  ],
])('input sources are refused for %s', async (_name, body, faults) => {
  const answer = await test.as.superuser.post('credential_input_sources/', body()).expect(400);
  expect(answer.body).toEqual(faults);
});

it('an input has one source at most', async () => {
  await test.as.superuser.post('credential_input_sources/', draft()).expect(201);
  const { body } = await test.as.superuser.post('credential_input_sources/', draft()).expect(400);
  expect(body).toEqual({
    __all__: [
      'Credential input source with this Target credential and Input field name already exists.',
    ],
  });
});

it('input sources require admin on the target and use on the source', async () => {
  const { make, as } = test;
  const user = await make.user();
  const client = await as.asUser(user);
  const path = 'credential_input_sources/';
  await make.grant('credential', store, 'use_role', { user });
  await make.grant('credential', target, 'use_role', { user });
  await client.post(path, draft()).expect(403);
  await make.grant('credential', target, 'admin_role', { user });
  const { url } = (await client.post(path, draft()).expect(201)).body;
  await as.nobody.get(url).expect(403);
  await make.revoke('credential', store, 'use_role', { user });
  await client.get(url).expect(200);
  await client.patch(url, { description: 'x' }).expect(403);
  await client.delete(url).expect(204);
  await client.post(path, draft()).expect(403);
});

it('a store that receives the identities of runs keeps its destination while it is used', async () => {
  const { as, make } = test;
  const jwt = { jwt_role: 'deployments', jwt_aud: 'https://vault.example.com' };
  const inputs = (url: string) => ({ inputs: { url, api_version: 'v2', ...jwt } });
  const { id } = await make.credential({
    ...{ namespace: 'hashivault-kv-oidc', organization: test.home.organization.id },
    ...inputs(stores.url),
  });
  const url = `credentials/${id}/`;
  await as.orgAdmin.patch(url, inputs('https://old.example.com')).expect(200);
  const source = draft({ source_credential: id });
  const made = await as.orgAdmin.post('credential_input_sources/', source).expect(201);
  const refused = await as.orgAdmin.patch(url, inputs('https://other.example.com')).expect(400);
  expect(refused.body).toEqual({ inputs: [expect.stringContaining('Remove the input sources')] });
  await as.orgAdmin.patch(url, { description: 'x' }).expect(200);
  await as.superuser.patch(url, inputs('https://new.example.com')).expect(200);
  await as.orgAdmin.delete(made.body.url).expect(204);
  await as.orgAdmin.patch(url, inputs('https://other.example.com')).expect(200);
});

it('a copy of a credential includes them if the caller may use the store', async () => {
  await test.as.superuser.post('credential_input_sources/', draft()).expect(201);
  const copied = async (client: typeof test.as.superuser, name: string): Promise<object> => {
    const { body } = await client.post(`credentials/${target.id}/copy/`, { name }).expect(201);
    return body.summary_fields.input_sources as object;
  };
  expect(await copied(test.as.superuser, 'One')).toHaveProperty('password.name', store.name);
  const user = await test.make.user();
  await test.make.grant('organization', test.home.organization, 'credential_admin_role', { user });
  expect(await copied(await test.as.asUser(user), 'Two')).toHaveProperty('password');
});

it('input sources provide inputs that a launch would prompt for', async () => {
  const { superuser } = test.as;
  await superuser
    .patch(`credentials/${target.id}/`, { inputs: { password: 'ASK', become_password: 'ASK' } })
    .expect(200);
  const template = await test.make.jobTemplate({});
  await superuser.post(`job_templates/${template.id}/credentials/`, { id: target.id }).expect(204);
  const needed = async (): Promise<unknown> =>
    (await superuser.get(`job_templates/${template.id}/launch/`).expect(200)).body
      .passwords_needed_to_start;
  expect(await needed()).toEqual(['ssh_password', 'become_password']);
  await superuser.post('credential_input_sources/', draft()).expect(201);
  expect(await needed()).toEqual(['become_password']);
});

describe('tests of secret stores', () => {
  it('report whether a value exists, and never the value', async () => {
    const url = `credentials/${store.id}/test/`;
    const good = await test.as.orgAdmin.post(url, { metadata: place }).expect(202);
    expect(good.body).toEqual({});
    const lost = await test.as.orgAdmin
      .post(url, { metadata: { ...place, secret_path: 'lost' } })
      .expect(400);
    expect(lost.body).toEqual({ inputs: ['HTTP 404.'] });
    const none = await test.as.orgAdmin.post(url, {}).expect(400);
    expect(Object.keys(none.body.metadata)).toEqual(['secret_path', 'secret_key']);
    await test.as.orgAdmin.get(url).expect(405);
    await test.as.nobody.post(url, { metadata: place }).expect(403);
    const other = await test.as.orgAdmin
      .post(`credentials/${target.id}/test/`, { metadata: {} })
      .expect(400);
    expect(other.body).toEqual({
      inputs: ['Only credentials of secret stores (external) can be tested.'],
    });
  });

  it('end their login, even if the value does not exist', async () => {
    const login = { role_id: 'role', secret_id: 'secret-id' };
    const { id } = await vault({ inputs: { url: stores.url, ...login } });
    stores.takeLines();
    for (const [secret_path, status] of [
      ['db', 202],
      ['lost', 400],
    ] as const) {
      await test.as.superuser
        .post(`credentials/${id}/test/`, { metadata: { ...place, secret_path } })
        .expect(status);
      expect(stores.takeLines()).toEqual([
        'POST /v1/auth/approle/login',
        `GET /v1/kv/data/${secret_path}`,
        'POST /v1/auth/token/revoke-self',
      ]);
    }
  });

  it('accept inputs that are not stored', async () => {
    const { make, as } = test;
    const user = await make.user();
    await make.grant('credential', store, 'use_role', { user });
    const client = await as.asUser(user);
    const url = `credentials/${store.id}/test/`;
    await client.post(url, { metadata: place }).expect(202);
    const elsewhere = { url: 'http://127.0.0.1:9/' };
    await client.post(url, { metadata: place, inputs: elsewhere }).expect(403);
    stores.takeLines();
    const { body } = await as.superuser
      .post(url, { metadata: place, inputs: elsewhere })
      .expect(400);
    expect(body).toEqual({
      inputs: { token: ['token must be entered again: url decides where it is sent.'] },
    });
    const given = { metadata: place, inputs: { token: 'wrong' } };
    expect((await as.superuser.post(url, given).expect(400)).body).toEqual({
      inputs: ['HTTP 403.'],
    });
    expect(stores.takeLines()).toHaveLength(1);
  });

  it('without a stored credential are permitted to superusers only', async () => {
    const type = await test.as.superuser
      .get('credential_types/?namespace=hashivault_kv')
      .expect(200);
    const url = `credential_types/${type.body.results[0].id}/test/`;
    const body = {
      inputs: { url: stores.url, api_version: 'v2', token: 'root-token' },
      metadata: place,
    };
    expect((await test.as.superuser.post(url, body).expect(202)).body).toEqual({});
    await test.as.orgAdmin.post(url, body).expect(403);
    const without = { ...body, inputs: { ...body.inputs, token: '' } };
    const lacking = await test.as.superuser.post(url, without).expect(400);
    expect(lacking.body.inputs[0]).toMatch(
      /^Token, username and password, AppRole, Kubernetes or TLS/,
    );
  });
});

it('the page of a credential has a tab with its input sources', async () => {
  const pages = test.as.orgAdmin.with({ accept: 'text/html' });
  const { text } = await pages.get(`credentials/${target.id}/`).expect(200);
  const [, tabs = ''] = /<nav class="tabs"(.*?)<\/nav>/s.exec(text) ?? [];
  expect(tabs).toContain(`/credentials/${target.id}/input_sources/`);
});
