/** The search covers every object with a name (docs/contract/lists.md#search-everywhere). */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { sameQueries } from '../support/queries.js';

let test: TestApp;
let organization: number;

beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
  const { make } = test;
  const inventory = await make.inventory({ organization, name: 'Harbour inventory' });
  for (const name of ['harbour', 'harbour-2', 'old harbour']) {
    await make.host(inventory, { name, description: 'where ships land' });
  }
  const project = await make.project({ organization, name: 'Harbour playbooks' });
  await make.jobTemplate({
    name: 'Open the harbour',
    project: project.id,
    inventory: inventory.id,
  });
});
afterAll(() => test.close());

interface Group {
  type: string;
  label: string;
  url: string;
  has_more: boolean;
  results: { name: string; url: string; id: number }[];
}

const groupsOf = (body: { groups: Group[] }) =>
  body.groups.map(({ type, results }) => [type, results.map(({ name }) => name)]);

it('a search finds objects of all types, exact names first', async () => {
  const { body } = await test.as.superuser.get('search/?q=HARBOUR').expect(200);
  expect(body.query).toBe('HARBOUR');
  expect(groupsOf(body)).toEqual([
    ['job_template', ['Open the harbour']],
    ['project', ['Harbour playbooks']],
    ['inventory', ['Harbour inventory']],
    ['host', ['harbour', 'harbour-2', 'old harbour']],
  ]);
});

it('a search requires every word, in any of the search fields of the list', async () => {
  const { body } = await test.as.superuser.get('search/?q=ships+"old harbour"').expect(200);
  expect(groupsOf(body)).toEqual([['host', ['old harbour']]]);
});

it('a result links to the object, and to the complete list', async () => {
  const { body } = await test.as.superuser.get('search/?q=harbour&type=host&limit=2').expect(200);
  const [hosts] = body.groups as Group[];
  expect(hosts).toMatchObject({
    label: 'Host',
    has_more: true,
    url: '/api/v2/hosts/?search=harbour',
  });
  expect(hosts?.results).toHaveLength(2);
  const { body: all } = await test.as.superuser.get(hosts?.url.slice('/api/v2/'.length) ?? '');
  expect(all.count).toBe(3);
  const first = hosts?.results[0];
  const { body: host } = await test.as.superuser.get(`hosts/${first?.id}/`).expect(200);
  expect(host).toMatchObject({ url: first?.url, name: first?.name });
});

it('a search by the number of a run shows the run once, even if its name contains the number', async () => {
  const { as, make, database } = test;
  const { id: template } = await make.jobTemplate({ name: 'Numbered' });
  const { body: job } = await as.superuser.post(`job_templates/${template}/launch/`).expect(201);
  await database.execute(sql`UPDATE unified_jobs SET name = ${`#${job.id}`} WHERE id = ${job.id}`);
  const { body } = await as.superuser.get(`search/?q=%23${job.id}`).expect(200);
  expect(groupsOf(body)).toEqual([['job', [`#${job.id}`]]]);
});

it('a search shows readable objects only', async () => {
  const { body } = await test.as.outsider.get('search/?q=harbour').expect(200);
  expect(body.groups).toEqual([]);
  const { body: admin } = await test.as.orgAdmin.get('search/?q=harbour').expect(200);
  expect(groupsOf(admin)).toHaveLength(4);
});

it('a search treats pattern characters literally, and finds nothing without a word', async () => {
  for (const words of ['%25', '_', '%5C', '%27', '']) {
    const { body } = await test.as.superuser.get(`search/?q=${words}`).expect(200);
    expect(body.groups.filter(({ type }: Group) => type === 'host')).toEqual([]);
  }
});

it('a search refuses unknown parameters', async () => {
  const { as } = test;
  const { body } = await as.superuser.get('search/?q=a&type=event').expect(400);
  expect(body.detail).toMatch(/^type must be one of job_template, .*, not "event"\.$/);
  for (const limit of ['0', '51', '1.5', 'all']) {
    await as.superuser.get(`search/?q=a&limit=${limit}`).expect(400);
  }
  await as.superuser.get(`search/?q=${'a'.repeat(513)}`).expect(400);
  await as.superuser.get('search/?q=%00').expect(400);
  await as.anonymous.get('search/?q=harbour').expect(401);
});

it('a search sends one statement, for any number of types', async () => {
  const { as, database } = test;
  // The first request of a token records that the token is used.
  await as.orgAdmin.get('search/?q=harbour').expect(200);
  await sameQueries(
    database,
    () => as.orgAdmin.get('search/?q=harbour&type=host').expect(200),
    () => as.orgAdmin.get('search/?q=harbour').expect(200),
  );
});

it('the search page escapes the words', async () => {
  const { text } = await test.as.superuser
    .with({ Accept: 'text/html' })
    .get('/search/?q=%22%3E%3Cscript%3E+harbour')
    .expect(200);
  expect(text).toContain('value="&quot;&gt;&lt;script&gt; harbour"');
});
