import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';

let test: TestApp;
let organization: Row;

beforeAll(async () => {
  test = await boot();
  organization = await test.make.organization({ name: 'Lists' });
  for (let number = 1; number <= 7; number++) {
    await test.make.team({
      name: `Team ${number}`,
      description: number % 2 === 0 ? 'even' : 'odd',
      organization: organization.id,
    });
  }
});
afterAll(() => test.close());

const list = async (
  query: string,
): Promise<{ count: number; next: string; previous: string; results: { name: string }[] }> => {
  const path = `teams/?organization=${organization.id}${query}`;
  const { body } = await test.as.superuser.get(path).expect(200);
  return body;
};
const names = async (query: string): Promise<string[]> =>
  (await list(query)).results.map(({ name }) => name.replace('Team ', ''));

describe('pages', () => {
  it('contain count, next, previous, results', async () => {
    const body = await list('&page_size=3');
    expect(Object.keys(body)).toEqual(['count', 'next', 'previous', 'results']);
    expect(body).toMatchObject({ count: 7, previous: null });
    expect(body.results).toHaveLength(3);
  });

  it('contain every row exactly once when the links are followed', async () => {
    const seen: number[] = [];
    let path: string | null = `/api/v2/teams/?organization=${organization.id}&page_size=2`;
    while (path !== null) {
      const answer: { body: { results: Row[]; next: string | null } } =
        await test.as.superuser.get(path);
      seen.push(...answer.body.results.map(({ id }) => id));
      path = answer.body.next;
    }
    expect(new Set(seen).size).toBe(7);
    expect(seen).toHaveLength(7);
  });

  it('keep every parameter in the links, including repeated keys and special characters', async () => {
    const path = `teams/?organization=${organization.id}&page_size=2&page=2&name__icontains=Team&name__icontains=e&search=%22Team%22`;
    const { body } = await test.as.superuser.get(path).expect(200);
    const next = new URL(body.next, test.url);
    expect(next.pathname).toBe('/api/v2/teams/');
    expect(next.searchParams.getAll('name__icontains')).toEqual(['Team', 'e']);
    expect(next.searchParams.get('search')).toBe('"Team"');
    expect(next.searchParams.get('page')).toBe('3');
    expect(new URL(body.previous, test.url).searchParams.get('page')).toBe('1');
  });

  it.each([
    ['last', '&page_size=3&page=last', ['7']],
    ['nothing after page=', '&page_size=3&page=', ['1', '2', '3']],
  ])('accept page=%s', async (_case, query, expected) => {
    expect(await names(`&order_by=name${query}`)).toEqual(expected);
  });

  it('include a first page even if nothing matches', async () => {
    const path = 'teams/?name=none&page=1';
    const { body } = await test.as.superuser.get(path).expect(200);
    expect(body).toEqual({ count: 0, next: null, previous: null, results: [] });
    const last = await test.as.superuser.get('teams/?name=none&page=last').expect(200);
    expect(last.body.count).toBe(0);
  });

  it.each(['0', '-1', 'x', '1.5', '99', '999999999', '99999999999999999999', '0x1', '１'])(
    'return 404 for page=%s',
    async (page) => {
      for (const more of ['', '&count_disabled=1']) {
        const path = `teams/?organization=${organization.id}&page=${encodeURIComponent(page)}${more}`;
        const { body } = await test.as.superuser.get(path).expect(404);
        expect(body).toEqual({ detail: 'Invalid page.' });
      }
    },
  );

  it.each(['0', '-5', 'x', '', '1.5'])('have the default size for page_size=%s', async (size) => {
    const body = await list(`&page_size=${size}`);
    expect(body.results).toHaveLength(7);
    expect(body.next).toBeNull();
  });

  it('limit page_size and write the limit into the links', async () => {
    const capped = await boot({ settings: { MAX_PAGE_SIZE: '3', PAGE_SIZE: '2' } });
    const { body } = await capped.as.superuser.get('users/?page_size=500').expect(200);
    expect(body.results).toHaveLength(3);
    expect(body.next).toContain('page_size=3');
    const plain = await capped.as.superuser.get('users/').expect(200);
    expect(plain.body.results).toHaveLength(2);
    expect(plain.body.next).not.toContain('page_size');
    await capped.close();
  });

  it.each([
    ['1', false],
    ['true', false],
    ['yes', false],
    ['', false],
    ['0', true],
    ['false', true],
    ['no', true],
  ])('omit or include the count for count_disabled=%s', async (word, counted) => {
    const body = await list(`&page_size=3&page=2&count_disabled=${word}`);
    expect('count' in body).toBe(counted);
    expect(body.next).toContain('page=3');
    expect(body.previous).toContain('page=1');
  });

  it('have no next link on the last page without a count', async () => {
    expect((await list('&page_size=7&count_disabled=1')).next).toBeNull();
    expect((await list('&page_size=6&count_disabled=1')).next).not.toBeNull();
  });

  it('count only readable rows', async () => {
    const { body } = await test.as.nobody.get('teams/').expect(200);
    expect(body).toEqual({ count: 0, next: null, previous: null, results: [] });
    const own = await test.as.teamMember.get('teams/').expect(200);
    expect(own.body.count).toBe(1);
  });
});

describe('order', () => {
  it.each([
    ['name', ['1', '2', '3', '4', '5', '6', '7']],
    ['-name', ['7', '6', '5', '4', '3', '2', '1']],
    ['-description,name', ['1', '3', '5', '7', '2', '4', '6']],
    ['description,-name', ['6', '4', '2', '7', '5', '3', '1']],
    ['organization__name,-id', ['7', '6', '5', '4', '3', '2', '1']],
    ['-created', ['7', '6', '5', '4', '3', '2', '1']],
    ['name,', ['1', '2', '3', '4', '5', '6', '7']],
    [',,-,', ['1', '2', '3', '4', '5', '6', '7']],
    ['', ['1', '2', '3', '4', '5', '6', '7']],
  ])('is by %s on request', async (order, expected) => {
    expect(await names(`&order_by=${order}`)).toEqual(expected);
    if (order !== '') expect(await names(`&order=${order}`)).toEqual(expected);
  });

  it.each([
    ['name', ['organization', 'inventory', 'host', 'group', 'credential', 'job_template']],
    ['name', ['workflow_job_template', 'notification_template', 'unified_job_template']],
    ['organization__name,name', ['team']],
    ['organization,name', ['label']],
    ['kind,name', ['credential_type']],
    ['username', ['user']],
    ['content_type,object_id,id', ['role']],
    ['id', ['project', 'job', 'project_update', 'workflow_job', 'unified_job', 'notification']],
    ['id', ['o_auth2_access_token', 'activity_stream', 'job_event', 'workflow_job_node']],
    ['-id', ['job_host_summary']],
  ])('is by %s for %j by default', (order, types) => {
    for (const type of types)
      expect(`${type} ${resource(type).orderBy.join()}`).toBe(`${type} ${order}`);
  });

  it('ends with the id, so that pages never overlap', async () => {
    const first = await names('&order_by=description&page_size=2');
    const second = await names('&order_by=description&page_size=2&page=2');
    expect([...first, ...second]).toEqual(['2', '4', '6', '1']);
  });

  it.each([
    ['nonsense', 400, "Team has no field named 'nonsense'"],
    ['-nonsense', 400, "Team has no field named 'nonsense'"],
    ['name__x', 400, 'No related model for field name.'],
    ['organization__nonsense', 400, "Organization has no field named 'nonsense'"],
    ['created_by__password', 403, 'Filtering on password is not allowed.'],
    ['password_hash', 400, "Team has no field named 'password_hash'"],
  ])('cannot be by %s', async (order, status, detail) => {
    const { body } = await test.as.superuser.get(`teams/?order_by=${order}`).expect(status);
    expect(body).toEqual({ detail });
  });

  it('is never by fields of unreadable objects', async () => {
    await test.as.outsider.get('teams/?order_by=created_by__username').expect(200);
    await test.as.outsider.get('users/?order_by=password_hash').expect(400);
  });
});

describe('search', () => {
  beforeAll(async () => {
    for (const [name, description] of [
      ['alpha beta', 'first'],
      ['beta alpha', 'second'],
      ['50% off_er', 'back\\slash'],
    ]) {
      await test.make.team({ name, description, organization: test.home.otherOrganization.id });
    }
  });
  const found = async (text: string): Promise<string[]> => {
    const path = `teams/?order_by=id&search=${encodeURIComponent(text)}&organization=${test.home.otherOrganization.id}`;
    const { body } = await test.as.superuser.get(path).expect(200);
    return body.results.map(({ name }: { name: string }) => name);
  };

  it.each([
    ['ALPHA', ['alpha beta', 'beta alpha']],
    ['alpha first', ['alpha beta']],
    ['alpha,second', ['beta alpha']],
    ['"alpha beta"', ['alpha beta']],
    ["'beta alpha'", ['beta alpha']],
    ['"alpha', []],
    ['50%', ['50% off_er']],
    ['%', ['50% off_er']],
    ['_', ['50% off_er']],
    ['\\', ['50% off_er']],
    ['""', ['alpha beta', 'beta alpha', '50% off_er']],
    ['nothing like it', []],
  ])('matches %s', async (text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it.each([
    ['users', ['username', 'first_name', 'last_name', 'email']],
    ['teams', ['name', 'description']],
    ['labels', ['name']],
    ['notifications', ['notification_type', 'subject', 'body']],
    ['roles', ['role_field', 'content_type']],
    ['activity_stream', ['changes']],
    ['job_events', ['stdout']],
    ['unified_jobs', ['name', 'description', 'job__playbook']],
    ['unified_job_templates', ['name', 'description', 'jobtemplate__playbook']],
    [
      'workflow_job_template_nodes',
      ['unified_job_template__name', 'unified_job_template__description'],
    ],
  ])('of %s covers %j', async (path, fields) => {
    const { body } = await test.as.superuser.options(`${path}/`).expect(200);
    expect(body.search_fields).toEqual(fields);
  });

  it('matches templates by playbook, and nodes by a readable template', async () => {
    const { as, home, make } = test;
    const template = await make.jobTemplate({ name: 'Roll out', playbook: 'unusual.yml' });
    const workflow = await make.workflowTemplate({ organization: home.organization.id });
    const node = await make.workflowNode(workflow, { unified_job_template: template.id });
    await make.grant('workflow_job_template', workflow, 'read_role', { user: as.users.nobody });
    const ids = async (client: ApiClient, path: string): Promise<number[]> =>
      (await client.get(path).expect(200)).body.results.map(({ id }: Row) => id);
    expect(await ids(as.superuser, 'unified_job_templates/?search=UNUSUAL')).toEqual([template.id]);
    expect(await ids(as.superuser, 'workflow_job_template_nodes/?search=roll+out')).toEqual([
      node.id,
    ]);
    expect(await ids(as.nobody, 'workflow_job_template_nodes/')).toEqual([node.id]);
    expect(await ids(as.nobody, 'workflow_job_template_nodes/?search=roll')).toEqual([]);
  });

  it('refuses NUL and very long texts', async () => {
    const nul = await test.as.superuser.get('teams/?search=a%00b').expect(400);
    expect(nul.body.detail).toMatch(/Null characters/);
    await test.as.superuser.get(`teams/?search=${'x'.repeat(600)}`).expect(400);
  });
});
