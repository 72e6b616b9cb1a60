/** Objects under their names instead of their ids (docs/contract/conventions.md#named-urls). */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { resource, resources } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const namedUrl = async (path: string): Promise<string> =>
  (await test.as.superuser.get(path).expect(200)).body.related.named_url;

it('a named URL is shown on every object that has one, and works', async () => {
  const samples = new Samples(test);
  const faults: string[] = [];
  for (const { type, path, stored } of resources()) {
    if (!stored) continue;
    const { id } = await samples.of(type);
    const { body, status } = await test.as.superuser.get(`${path}/${id}/`);
    if (status === 404) continue;
    // A constructed inventory has the type and the URL of an inventory.
    const { naturalKey } = resource((body.type as string | undefined) ?? type);
    const url = body.related?.named_url as string | undefined;
    if (naturalKey.length > 0 !== (url !== undefined)) faults.push(`${path}: ${String(url)}`);
    if (!url) continue;
    const found = await test.as.superuser.get(url);
    if (found.body.id !== id) faults.push(`${url}: ${found.status}`);
  }
  expect(faults).toEqual([]);
});

it('a named URL has the form that clients write', async () => {
  const { make, home } = test;
  const inventory = await make.inventory({ name: 'Lab', organization: home.organization.id });
  const host = await make.host(inventory, { name: 'web-1' });
  const credential = await make.credential({ name: 'Key', organization: home.organization.id });
  const template = await make.jobTemplate({
    name: 'Deploy',
    project: (await make.project({ organization: home.organization.id })).id,
    inventory: inventory.id,
  });
  const expected = {
    [`organizations/${home.organization.id}/`]: '/api/v2/organizations/Home/',
    [`teams/${home.team.id}/`]: '/api/v2/teams/Home%20Team++Home/',
    [`users/${test.as.users.orgAdmin.id}/`]: '/api/v2/users/orgAdmin/',
    [`inventories/${inventory.id}/`]: '/api/v2/inventories/Lab++Home/',
    [`hosts/${host.id}/`]: '/api/v2/hosts/web-1++Lab++Home/',
    [`job_templates/${template.id}/`]: '/api/v2/job_templates/Deploy++Home/',
    [`credentials/${credential.id}/`]: '/api/v2/credentials/Key++Machine+ssh++Home/',
  };
  for (const [path, url] of Object.entries(expected)) expect(await namedUrl(path)).toBe(url);
});

it.each([
  'a+b',
  'a++b',
  '+',
  'a[+]b',
  '[',
  '[+',
  '+]',
  'a/b',
  'a?b=c&d#e',
  '100 %',
  '%2B',
  'ümläut 漢字 🚀',
  '{id}',
  "o'clock",
  'a;b:c@d=e',
])('the object %s is found by its named URL', async (name) => {
  const organization = await test.make.organization({ name });
  const team = await test.make.team({ name: `${name}+`, organization: organization.id });
  for (const [path, row] of [
    ['organizations', organization],
    ['teams', team],
  ] as const) {
    const url = await namedUrl(`${path}/${row.id}/`);
    const { body } = await test.as.superuser.get(url).expect(200);
    expect(body).toMatchObject({ id: row.id, related: { named_url: url } });
  }
});

it('a named URL works in every URL that contains an id', async () => {
  const { as, home, make } = test;
  const team = await make.team({ name: 'Named', organization: home.organization.id });
  const path = 'teams/Named++Home';
  await as.orgAdmin.patch(`${path}/`, { description: 'changed' }).expect(200);
  await as.orgAdmin.post(`${path}/users/`, { id: as.users.teamMember.id }).expect(204);
  const members = await as.orgAdmin.get(`${path}/users/?page_size=1`).expect(200);
  expect(members.body.results.map(({ username }: { username: string }) => username)).toEqual([
    'teamMember',
  ]);
  const roles = await as.orgAdmin.get(`${path}/object_roles/`).expect(200);
  expect(roles.body.count).toBe(3);
  const options = await as.orgAdmin.options(`${path}/users/`).expect(200);
  expect(options.body.actions).toHaveProperty('POST');
  const gone = await as.orgAdmin.delete(`${path}/`).expect(204);
  expect(gone.text).toBe('');
  await as.superuser.get(`teams/${team.id}/`).expect(404);
});

it('responses to creations contain a named URL, and lists do not', async () => {
  const { as, home } = test;
  const made = await as.orgAdmin
    .post('teams/', { name: 'Fresh', organization: home.organization.id })
    .expect(201);
  expect(made.body.related.named_url).toBe('/api/v2/teams/Fresh++Home/');
  const { body } = await as.orgAdmin.get('teams/?name=Fresh').expect(200);
  expect(body.results[0].related).not.toHaveProperty('named_url');
});

it('a named URL contains no names that the caller may not read', async () => {
  const { as, home } = test;
  // A member of the team reads the team and not its organization.
  const { body } = await as.teamMember.get(`teams/${home.team.id}/`).expect(200);
  expect(body.related).not.toHaveProperty('named_url');
  expect(JSON.stringify(body)).not.toContain('Home/');
  for (const client of [as.nobody, as.outsider]) {
    for (const name of ['Home', 'No such organization']) {
      const answer = await client.get(`organizations/${encodeURIComponent(name)}/`).expect(404);
      expect(answer.body).toEqual({ detail: 'Not found.' });
      await client.patch(`organizations/${encodeURIComponent(name)}/`, {}).expect(404);
      await client.delete(`organizations/${encodeURIComponent(name)}/`).expect(404);
    }
  }
});

it.each([
  'teams/Home Team/',
  'teams/Home Team++/',
  'teams/Home Team++Home++Home/',
  'teams/++Home/',
  'teams/Home Team+x++Home/',
  'teams/home team++Home/',
  'organizations/++/',
  'organizations/%00/',
  'organizations/%ED%A0%80/',
  `organizations/${'x'.repeat(9000)}/`,
  'credentials/Key++ssh++Home/',
  'activity_stream/x/',
  'jobs/x/',
])('a named URL %s returns 404 or 400', async (path) => {
  const { status } = await test.as.superuser.get(path);
  expect([400, 404]).toContain(status);
});

it('objects with the same name without an organization are ambiguous', async () => {
  const { make, as } = test;
  for (let i = 0; i < 2; i++) {
    await make.credential({ name: 'Twin', user: as.users.nobody.id });
  }
  const { body } = await as.superuser.get('credentials/Twin++Machine+ssh++/').expect(404);
  expect(body.detail).toMatch(/use the id/);
  await as.superuser.delete('credentials/Twin++Machine+ssh++/').expect(404);
});

it('a name of digits is read as an id', async () => {
  const organization = await test.make.organization({ name: '2147483000' });
  expect(await namedUrl(`organizations/${organization.id}/`)).toBeUndefined();
  await test.as.superuser.get('organizations/2147483000/').expect(404);
});

it('a named URL needs one statement more than an id, for any name', async () => {
  const { as, database, home } = test;
  const client = as.orgAdmin;
  const count = (path: string): Promise<number> =>
    countQueries(database, () => client.get(path).expect(200));
  await count(`teams/${home.team.id}/`);
  const byId = await count(`teams/${home.team.id}/`);
  expect(await count('teams/Home%20Team++Home/')).toBe(byId + 1);
});

it('OPTIONS and the explorer describe named URLs', async () => {
  const { body } = await test.as.superuser.options('hosts/').expect(200);
  expect(body.named_url_format).toBe('hosts/<name>++<inventory.name>++<organization.name>/');
  expect(
    test.app.get(RouteTable, { strict: false }).match('/api/v2/teams/a++b/users'),
  ).toBeDefined();
});
