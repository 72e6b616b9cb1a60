/** Credentials of sources of inventories (docs/contract/inventory-sources.md#fields). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let inventory: Row;
let project: Row;
const credentials: Record<string, Row> = {};

const INPUTS: Record<string, object> = {
  aws: { username: 'u', password: 'p' },
  openstack: { host: 'https://cloud.example', username: 'u', password: 'p', project: 'x' },
  kubernetes_bearer_token: { host: 'https://cluster.example', bearer_token: 't' },
  insights: { username: 'u', password: 'p' },
  vault: { vault_password: 'p' },
  ssh: {},
};

beforeAll(async () => {
  test = await boot();
  const organization = test.home.organization.id;
  inventory = await test.make.inventory({ organization });
  project = await test.make.project({
    ...{ organization, scm_type: 'git', scm_url: 'https://example.org/a.git' },
  });
  for (const [namespace, inputs] of Object.entries(INPUTS)) {
    credentials[namespace] = await test.make.credential({ organization, namespace, inputs });
  }
});
afterAll(() => test.close());

let counter = 0;
const idOf = (namespace: string | null): number | null =>
  namespace === null ? null : (credentials[namespace]?.id ?? NaN);
const post = (source: string, namespace: string | null) =>
  test.as.superuser.post('inventory_sources/', {
    ...{ name: `Source ${(counter += 1)}`, inventory: inventory.id, source },
    ...{ credential: idOf(namespace), ...(source === 'scm' ? { source_project: project.id } : {}) },
  });
const made = async (source: string, namespace: string | null): Promise<Row> =>
  (await post(source, namespace).expect(201)).body;

const REQUIRED = 'Credential is required for a cloud source.';
const OTHER_CLOUD =
  'Cloud-based inventory sources (such as ec2) require credentials for the matching cloud service.';
const NOT_FOR_SCM =
  'Credentials of type insights and vault are disallowed for scm inventory sources.';
const NO_CLUSTER =
  'Credentials of type kubernetes is requred for openshift_virtualization inventory sources.';

it.each([
  ...['gce', 'azure_rm', 'vmware', 'satellite6', 'openstack', 'rhv', 'controller', 'insights'].map(
    (source) => [source, null, REQUIRED] as const,
  ),
  ['terraform', null, REQUIRED],
  ['ec2', 'openstack', OTHER_CLOUD],
  ['openstack', 'aws', OTHER_CLOUD],
  ['insights', 'ssh', OTHER_CLOUD],
  ['scm', 'vault', NOT_FOR_SCM],
  ['scm', 'insights', NOT_FOR_SCM],
  ['openshift_virtualization', 'aws', NO_CLUSTER],
] as const)('a source %s refuses a credential %s', async (source, namespace, text) => {
  const { body } = await post(source, namespace).expect(400);
  expect(body).toEqual({ credential: [text] });
});

it.each([
  ['ec2', null],
  ['ec2', 'aws'],
  ['openstack', 'openstack'],
  ['insights', 'insights'],
  ['openshift_virtualization', null],
  ['openshift_virtualization', 'kubernetes_bearer_token'],
  ['scm', null],
  ['scm', 'ssh'],
  ['scm', 'aws'],
])('a source %s accepts a credential %s', async (source, namespace) => {
  const id = idOf(namespace);
  expect(await made(source, namespace)).toMatchObject({
    credential: id,
    summary_fields: { credentials: id === null ? [] : [{ id }] },
  });
});

it('the credential must exist', async () => {
  const { body } = await test.as.superuser
    .post('inventory_sources/', {
      ...{ name: 'Unknown', inventory: inventory.id, source: 'ec2', credential: 99_999 },
    })
    .expect(400);
  expect(body).toEqual({ credential: ['Credential 99999 does not exist'] });
});

it('a credential in the request replaces the current one, which otherwise stays', async () => {
  const another = await test.make.credential({
    ...{ organization: test.home.organization.id, namespace: 'aws', inputs: INPUTS.aws },
  });
  const { id, name } = await made('ec2', 'aws');
  const path = `inventory_sources/${id}/`;
  const sent = async (verb: 'patch' | 'put', fields: object): Promise<Row> =>
    (await test.as.superuser[verb](path, fields).expect(200)).body;
  const replaced = await sent('patch', { credential: another.id });
  expect(replaced).toMatchObject({
    credential: another.id,
    summary_fields: {
      credential: { id: another.id, kind: 'aws', cloud: true, name: another.name },
      credentials: [{ id: another.id }],
    },
  });
  expect(await sent('patch', { description: 'x' })).toMatchObject({ credential: another.id });
  const whole = { name, inventory: inventory.id, source: 'ec2' };
  expect(await sent('put', whole)).toMatchObject({ credential: another.id });
  expect(await sent('patch', { credential: null })).toMatchObject({ credential: null });
});

it('credentials are attached and detached in a list, which stays linked after an update', async () => {
  const { superuser } = test.as;
  const { id } = await made('ec2', null);
  const path = `inventory_sources/${id}/`;
  const list = `${path}credentials/`;
  const attach = (namespace: string) => superuser.post(list, { id: idOf(namespace) });
  const wrong = await attach('openstack').expect(400);
  expect(wrong.body).toEqual({ detail: OTHER_CLOUD });
  await attach('aws').expect(204);
  const second = await attach('openstack').expect(400);
  expect(second.body).toEqual({ detail: 'Source already has credential assigned.' });
  await superuser.post(`${path}update/`, {}).expect(202);
  const { body: shown } = await superuser.get(path).expect(200);
  expect(shown).toMatchObject({
    credential: idOf('aws'),
    related: {
      credentials: `/api/v2/${list}`,
      credential: `/api/v2/credentials/${String(idOf('aws'))}/`,
    },
  });
  const { body: listed } = await superuser.get(list).expect(200);
  expect(listed.results.map((row: Row) => row.id)).toEqual([idOf('aws')]);
  await superuser.post(list, { id: idOf('aws'), disassociate: true }).expect(204);
  expect((await superuser.get(path)).body).toMatchObject({ credential: null });
  expect((await superuser.get(list)).body.count).toBe(0);
});

it('one of several credentials is attached by simultaneous requests', async () => {
  const { id } = await made('ec2', null);
  const others = await Promise.all(
    Array.from({ length: 5 }, () =>
      test.make.credential({
        ...{ organization: test.home.organization.id, namespace: 'aws', inputs: INPUTS.aws },
      }),
    ),
  );
  const answers = await Promise.all(
    others.map((one) =>
      test.as.superuser.post(`inventory_sources/${String(id)}/credentials/`, { id: one.id }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 400, 400, 400, 400]);
});
