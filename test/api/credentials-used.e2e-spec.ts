/** Credentials that other objects use (docs/contract/resources.md#credentials). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const vault = { url: 'https://vault.example.com', api_version: 'v1', token: 't' };

async function source(): Promise<Row> {
  const store = await test.make.credential({ namespace: 'hashivault_kv', inputs: vault });
  const target = await test.make.credential();
  return test.make.row('credential_input_source', {
    ...{ target_credential: target.id, source_credential: store.id },
    ...{ input_field_name: 'password', metadata: { secret_path: 'a', secret_key: 'b' } },
  });
}

/** Uses of a credential, each with a function that creates it and returns the id of the credential. */
const USES: [use: string, create: () => Promise<unknown>][] = [
  [
    'an execution environment',
    async () => {
      const { id } = await test.make.credential({
        namespace: 'registry',
        inputs: { host: 'q.io' },
      });
      await test.make.row('execution_environment', {
        name: 'ee',
        image: 'q.io/ee',
        credential: id,
      });
      return id;
    },
  ],
  ['an input source, as its store', async () => (await source()).source_credential_id],
  ['an input source, as its target', async () => (await source()).target_credential_id],
  [
    'an organization',
    async () => {
      const inputs = { url: 'https://galaxy.example.com' };
      const { id } = await test.make.credential({ namespace: 'galaxy_api_token', inputs });
      const path = `organizations/${test.home.organization.id}/galaxy_credentials/`;
      await test.as.superuser.post(path, { id }).expect(204);
      return id;
    },
  ],
  [
    'a node of a workflow',
    async () => {
      const { id } = await test.make.credential();
      const node = await test.make.workflowNode(await test.make.workflowTemplate());
      await test.database.execute(sql`
        INSERT INTO workflow_template_node_credentials (node_id, credential_id)
        VALUES (${node.id}, ${id})`);
      return id;
    },
  ],
];

it.each(USES)('a credential keeps its type while %s uses it', async (_use, create) => {
  const id = String(await create());
  const type = await test.database.row(
    sql`SELECT id FROM credential_types WHERE namespace = 'scm'`,
  );
  const change = { credential_type: type?.id, inputs: {} };
  const { body } = await test.as.superuser.patch(`credentials/${id}/`, change).expect(400);
  expect(body.credential_type).toEqual([
    expect.stringContaining('You cannot change the credential type of the credential'),
  ]);
});

it('a change of the type keeps no secrets if it drops their destination', async () => {
  const types = await test.database.rows<Row & { namespace: string }>(sql`
    SELECT id, namespace FROM credential_types WHERE namespace IN ('hashivault_kv', 'ssh')`);
  const idOf = (name: string) => types.find(({ namespace }) => namespace === name)?.id;
  const inputs = { url: 'https://vault.example.org', username: 'u', password: 'stored' };
  const store = await test.make.credential({
    ...{ organization: test.home.organization.id },
    ...{ credential_type: idOf('hashivault_kv'), inputs },
  });
  const change = (password: string) =>
    test.as.orgAdmin.patch(`credentials/${store.id}/`, {
      ...{ credential_type: idOf('ssh'), inputs: { username: 'u', password } },
    });
  const lacking = 'url, cacert, namespace, default_auth_path';
  expect((await change('$encrypted$').expect(400)).body).toEqual({
    inputs: { password: [`password must be entered again: ${lacking} decides where it is sent.`] },
  });
  await change('another').expect(200);
});

it('a change of the type keeps no secrets if it drops a destination with a default', async () => {
  const [hook] = await test.database.rows<Row>(sql`
    SELECT id FROM credential_types WHERE namespace = 'service_a_token'`);
  const open = await test.make.row('credential_type', {
    ...{ name: 'In the environment', kind: 'cloud', injectors: { env: { T: '{{ token }}' } } },
    inputs: { fields: [{ id: 'token', label: 'Token', secret: true }] },
  });
  const { id } = await test.make.credential({
    ...{ organization: test.home.organization.id, credential_type: hook?.id },
    inputs: { token: 'stored' },
  });
  const sent = { credential_type: open.id, inputs: { token: '$encrypted$' } };
  expect((await test.as.orgAdmin.patch(`credentials/${id}/`, sent).expect(400)).body).toEqual({
    inputs: { token: ['token must be entered again: host decides where it is sent.'] },
  });
});
