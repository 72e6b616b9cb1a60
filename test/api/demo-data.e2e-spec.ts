import { demoData } from '../../src/cli/demo-data.js';
import { sql } from '../../src/database/sql.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';

let test: TestApp;
let organization: string;
/** Servers after the first start on an empty database. */
let shipped: { id: number; name: string }[];
beforeAll(async () => {
  test = await boot();
  await start();
  const { body } = await test.as.superuser.get('organizations/?name=Default').expect(200);
  organization = `organizations/${body.results[0].id}/`;
  shipped = await servers();
});
beforeEach(async () => {
  await asBefore();
  await start();
});
afterAll(() => test.close());

/** Creates the demo data as every start of the service does. */
const start = (): Promise<void> => withSettingsOf(test, {}, () => demoData());

const servers = async (): Promise<{ id: number; name: string }[]> =>
  (await test.as.superuser.get(`${organization}galaxy_credentials/`).expect(200)).body.results;

/** Restores the state of a version that did not have this credential yet. */
async function asBefore(): Promise<void> {
  await test.database.execute(sql`DELETE FROM credentials WHERE name = 'Ansible Galaxy'`);
  await test.database.execute(sql`
    DELETE FROM installation WHERE name = 'demo_galaxy_credential'`);
}

it('demo data include the public collection server, attached to their organization', () => {
  expect(shipped).toMatchObject([
    {
      name: 'Ansible Galaxy',
      kind: 'galaxy_api_token',
      inputs: { url: 'https://galaxy.ansible.com/' },
      summary_fields: {
        organization: { name: 'Default' },
        credential_type: { name: 'Ansible Galaxy/Automation Hub API Token' },
      },
    },
  ]);
});

it('a new release adds its new objects to existing demo data', async () => {
  expect(await servers()).toMatchObject([{ name: 'Ansible Galaxy' }]);
});

it('deleted or detached objects are not created again', async () => {
  const [server] = await servers();
  await test.as.superuser
    .post(`${organization}galaxy_credentials/`, { id: server!.id, disassociate: true })
    .expect(204);
  await start();
  expect(await servers()).toEqual([]);
  await test.as.superuser.delete(`credentials/${server!.id}/`).expect(204);
  await start();
  const { body } = await test.as.superuser.get('credentials/?name=Ansible%20Galaxy').expect(200);
  expect(body.count).toBe(0);
});

it('an existing credential with the name is attached', async () => {
  await asBefore();
  const type = await test.as.superuser.get('credential_types/?namespace=galaxy_api_token');
  const own = await test.as.superuser
    .post('credentials/', {
      name: 'Ansible Galaxy',
      organization: Number(organization.split('/')[1]),
      credential_type: type.body.results[0].id,
      inputs: { url: 'https://hub.example.org/' },
    })
    .expect(201);
  await start();
  expect(await servers()).toMatchObject([{ id: own.body.id }]);
});
