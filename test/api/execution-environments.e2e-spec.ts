/** Images that runs are to happen in (docs/contract/resources.md#execution-environments). */
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const path = 'execution_environments/';
const image = 'quay.io/ansible/awx-ee:latest';

it('are made, found, changed, copied and deleted', async () => {
  const { superuser } = test.as;
  const { id: organization } = await test.make.organization();
  const made = await superuser
    .post(path, { name: 'EE', image, organization, pull: 'always' })
    .expect(201);
  const { id, url } = made.body;
  expect(made.body).toMatchObject({
    ...{ type: 'execution_environment', image, organization, pull: 'always' },
    ...{ credential: null, managed: false, description: '' },
    summary_fields: {
      organization: { id: organization },
      user_capabilities: { edit: true, delete: true, copy: true },
    },
  });
  const again = await superuser.post(path, { name: 'EE', image }).expect(400);
  expect(again.body).toEqual({ name: ['Execution environment with this Name already exists.'] });
  const found = await superuser.get(`${path}?name=EE`).expect(200);
  expect(found.body.results.map((one: { id: number }) => one.id)).toEqual([id]);
  const changed = await superuser
    .patch(url, { name: 'Renamed', image: 'localhost/ee', pull: 'missing' })
    .expect(200);
  expect(changed.body).toMatchObject({ name: 'Renamed', image: 'localhost/ee', pull: 'missing' });
  const copy = await superuser.post(`${url}copy/`, { name: 'Copy' }).expect(201);
  expect(copy.body).toMatchObject({ image: 'localhost/ee', organization });
  const below = await superuser
    .get(`organizations/${organization}/execution_environments/`)
    .expect(200);
  expect(below.body.results.map((one: { name: string }) => one.name)).toEqual(['Copy', 'Renamed']);
  await superuser.delete(url).expect(204);
  await superuser.get(url).expect(404);
});

it.each<[object, object]>([
  [{}, { name: ['This field is required.'], image: ['This field is required.'] }],
  [
    { name: 'x', image: 'Not an image' },
    { image: ['Not an image reference: [domain[:port]/]path[:tag][@sha256:…].'] },
  ],
  [{ name: 'x', image, pull: 'sometimes' }, { pull: ['"sometimes" is not a valid choice.'] }],
  [
    { name: 'x', image, organization: 99_999 },
    { organization: ['Invalid pk "99999" - object does not exist.'] },
  ],
])('are refused as %j', async (body, faults) => {
  expect((await test.as.superuser.post(path, body).expect(400)).body).toEqual(faults);
});

it('are pulled with credentials of registries', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const registry = await make.credential({ organization, namespace: 'registry' });
  const machine = await make.credential({ organization });
  const body = { name: 'Pulled', image, organization };
  const { url } = (await as.orgAdmin.post(path, { ...body, credential: registry.id }).expect(201))
    .body;
  const other = await as.orgAdmin.patch(url, { credential: machine.id }).expect(400);
  expect(other.body).toEqual({
    credential: [
      'Only Container Registry credentials can be associated with an Execution Environment',
    ],
  });
});

it('belong to an organization for good, or to all', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const { url } = (await as.orgAdmin.post(path, { name: 'Ours', image, organization }).expect(201))
    .body;
  const other = (await make.organization()).id;
  const moved = await as.superuser.patch(url, { organization: other }).expect(400);
  expect(moved.body).toEqual({
    organization: ['Cannot change the organization of an execution environment'],
  });
  await as.outsider.get(url).expect(403);
  await as.orgAdmin.patch(url, { organization: null }).expect(403);
  await as.superuser.patch(url, { organization: null }).expect(200);
  await as.outsider.get(url).expect(200);
  await as.orgAdmin.patch(url, { image: 'x' }).expect(403);
});

it('are made by superusers, and in organizations by those who may', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const user = await make.user();
  const client = await as.asUser(user);
  const body = { name: 'Theirs', image, organization };
  await client.post(path, body).expect(403);
  const field = 'execution_environment_admin_role';
  await make.grant('organization', home.organization, field, { user });
  const { url } = (await client.post(path, body).expect(201)).body;
  await client.post(path, { name: 'For all', image }).expect(403);
  await as.orgMember.get(url).expect(200);
  await as.orgMember.patch(url, { image: 'x' }).expect(403);
  await as.nobody.get(url).expect(403);
  await client.delete(url).expect(204);
});
