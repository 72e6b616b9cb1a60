import type { Row } from '../../src/common/resource/define-resource.js';
import { insertRow } from '../../src/database/rows.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let red: Row;
let blue: Row;

beforeAll(async () => {
  test = await boot();
  red = await test.make.organization({ name: 'Red Org', description: 'colour' });
  blue = await test.make.organization({ name: 'Blue Org', max_hosts: 7 });
  await test.make.team({ name: 'Ops', description: 'Runs it', organization: red.id });
  await test.make.team({ name: 'ops_2', description: '', organization: red.id });
  await test.make.team({ name: 'Dev%', description: 'Writes it', organization: blue.id });
});
afterAll(() => test.close());

const get = (query: string) => test.as.superuser.get(query);
const names = async (collection: string, query: string): Promise<string[]> => {
  const { body } = await get(`${collection}/?order_by=id&${query}`).expect(200);
  return body.results.map(({ name, username }: Row) => name ?? username);
};
const teams = (query: string): Promise<string[]> =>
  names('teams', `${query}&organization__in=${red.id},${blue.id}`);

describe('lookups', () => {
  it.each([
    ['name=Ops', ['Ops']],
    ['name__exact=Ops', ['Ops']],
    ['name__iexact=OPS', ['Ops']],
    ['name__contains=ps', ['Ops', 'ops_2']],
    ['name__contains=Op', ['Ops']],
    ['name__icontains=OP', ['Ops', 'ops_2']],
    ['name__contains=%25', ['Dev%']],
    ['name__contains=_', ['ops_2']],
    ['name__startswith=op', ['ops_2']],
    ['name__istartswith=op', ['Ops', 'ops_2']],
    ['name__endswith=2', ['ops_2']],
    ['name__iendswith=S', ['Ops']],
    ['name__regex=^O.s$', ['Ops']],
    ['name__iregex=^o.s', ['Ops', 'ops_2']],
    ['name__in=Ops,Dev%25', ['Ops', 'Dev%']],
    ['name__gt=Z', ['ops_2']],
    ['name__lt=E', ['Dev%']],
    ['description=', ['ops_2']],
    ['organization__name=Red Org', ['Ops', 'ops_2']],
    ['organization__name__icontains=BLUE', ['Dev%']],
    ['organization__max_hosts=7', ['Dev%']],
    ['organization__max_hosts__gte=7', ['Dev%']],
    ['organization__max_hosts__lt=7', ['Ops', 'ops_2']],
    ['organization__max_hosts__int=7', ['Dev%']],
    ['organization__isnull=false', ['Ops', 'ops_2', 'Dev%']],
    ['organization__isnull=true', []],
    ['created__gte=2020-01-01', ['Ops', 'ops_2', 'Dev%']],
    ['created__lt=2020-01-01T00:00:00Z', []],
    ['created__gt=2020-01-01T00:00:00.123456%2B02:00', ['Ops', 'ops_2', 'Dev%']],
    ['type=team', ['Ops', 'ops_2', 'Dev%']],
    ['type=job', []],
    ['organization__search=colour', ['Ops', 'ops_2']],
    ['created_by__username=superuser', ['Ops', 'ops_2', 'Dev%']],
    ['created_by__is_superuser=T', ['Ops', 'ops_2', 'Dev%']],
    ['created_by__is_superuser=f', []],
  ])('%s', async (query, expected) => {
    expect(await teams(query)).toEqual(expected);
  });

  it('compares ids', async () => {
    expect(await names('organizations', `id=${red.id}`)).toEqual(['Red Org']);
    expect(await names('organizations', `pk=${red.id}`)).toEqual(['Red Org']);
    expect(await names('organizations', `id__in=${red.id},${blue.id}`)).toEqual([
      'Red Org',
      'Blue Org',
    ]);
    expect(await names('organizations', `id__gt=${red.id}&id__lte=${blue.id}`)).toEqual([
      'Blue Org',
    ]);
    expect(await names('organizations', 'id=99999999999999999999')).toEqual([]);
    expect(await names('teams', `organization__id=${blue.id}`)).toEqual(['Dev%']);
    expect(await names('teams', `organization__pk=${blue.id}`)).toEqual(['Dev%']);
  });

  it.each(['null', 'None', 'none'])('treats %s as no value of a reference', async (word) => {
    expect(await names('organizations', `created_by=${word}`)).toEqual([]);
    expect(await names('users', `last_login=${word}&username=nobody`)).toEqual(['nobody']);
    expect((await names('organizations', `not__created_by=${word}`)).length).toBeGreaterThan(0);
  });
});

describe('combinations', () => {
  it.each([
    ['repeated keys are all asked for', 'name__icontains=o&name__icontains=2', ['ops_2']],
    ['not', 'not__name=Ops', ['ops_2', 'Dev%']],
    ['not and a null', 'not__description=Runs it', ['ops_2', 'Dev%']],
    ['or', 'or__name=Ops&or__name=Dev%25', ['Ops', 'Dev%']],
    ['or beside and', 'or__name=Ops&or__name=Dev%25&organization__name=Blue Org', ['Dev%']],
    ['or not', 'or__not__name__icontains=o&or__name=Ops', ['Ops', 'Dev%']],
    ['chain', 'chain__name__icontains=ops&chain__name__icontains=2', ['ops_2']],
    ['chain not', 'chain__not__name=Ops', ['ops_2', 'Dev%']],
  ])('%s', async (_case, query, expected) => {
    expect(await teams(query)).toEqual(expected);
  });

  it('apply to one related row, and with chain__ to one row each', async () => {
    const both = 'teams__name=Ops&teams__description=';
    expect(await names('organizations', both)).toEqual([]);
    const one = 'teams__name=Ops&teams__description=Runs it';
    expect(await names('organizations', one)).toEqual(['Red Org']);
    const each = 'chain__teams__name=Ops&chain__teams__description=';
    expect(await names('organizations', each)).toEqual(['Red Org']);
  });

  it('return an object once, even if several related rows match', async () => {
    expect(await names('organizations', 'teams__name__icontains=ops')).toEqual(['Red Org']);
  });

  it('search related objects', async () => {
    expect(await names('organizations', 'teams__search=ops')).toEqual(['Red Org']);
    expect(await names('organizations', 'teams__search=ops,runs')).toEqual(['Red Org']);
    expect(await names('organizations', 'teams__search=ops,writes')).toEqual([]);
    const either = 'teams__search=writes&teams__search=runs';
    expect(await names('organizations', either)).toEqual(['Red Org', 'Blue Org']);
  });

  it('test whether related objects exist', async () => {
    const mine = `id__in=${red.id},${blue.id}`;
    expect(await names('organizations', `projects__isnull=true&${mine}`)).toEqual([
      'Red Org',
      'Blue Org',
    ]);
    expect(await names('organizations', `projects__isnull=false&${mine}`)).toEqual([]);
    expect(await names('organizations', `teams__isnull=false&${mine}`)).toEqual([
      'Red Org',
      'Blue Org',
    ]);
    const named = `teams__isnull=false&teams__name=Ops&${mine}`;
    expect(await names('organizations', named)).toEqual(['Red Org']);
  });
});

describe('errors', () => {
  it.each([
    ['teams/?nonsense=1', 400, "Team has no field named 'nonsense'"],
    ['teams/?organization__nonsense=1', 400, "Organization has no field named 'nonsense'"],
    ['teams/?name__nonsense=1', 400, 'No related model for field name.'],
    ['teams/?organization=abc', 400, 'Invalid organization id: abc'],
    ['teams/?id=abc', 400, 'Invalid id: abc'],
    ['teams/?id__in=1,x', 400, 'Invalid id: x'],
    ['teams/?id__in=', 400, 'cannot provide empty value for __in'],
    ['users/?is_superuser=maybe', 400, 'Unable to convert "maybe" to boolean'],
    ['teams/?organization__isnull=maybe', 400, 'Unable to convert "maybe" to boolean'],
    ['organizations/?teams__isnull=maybe', 400, 'Unable to convert "maybe" to boolean'],
    ['organizations/?max_hosts=abc', 400, '"abc" value must be an integer.'],
    ['teams/?name__regex=(', 400, 'The regular expression is not valid.'],
    [
      'teams/?id__icontains=1',
      400,
      'id is not a text field and cannot be filtered by case-insensitive search',
    ],
    ['teams/?name__search=x', 400, 'name is not searchable'],
    [
      'teams/?organization__teams__organization__name=x',
      400,
      'Loops not allowed in filters, detected on field teams.',
    ],
    ['teams/?=1', 400, 'Query string field name not provided.'],
    ['teams/?not__=1', 400, 'Query string field name not provided.'],
    ['teams/?n%C3%A4me=1', 400, '"näme" is not an allowed field name. Must be ascii encodable.'],
    ['teams/?name=a%00', 400, 'Null characters are not allowed in the query string.'],
    [
      'activity_stream/?role_level=admin_role',
      400,
      'Cannot apply role_level filter to this list because its model does not use roles for access control.',
    ],
    [
      'teams/?role_level=nonsense',
      400,
      'Cannot apply role_level filter to this list because its model does not use roles for access control.',
    ],
    ['users/?password=x', 403, 'Filtering on password is not allowed.'],
    ['users/?password__startswith=x', 403, 'Filtering on password is not allowed.'],
    ['teams/?created_by__password=x', 403, 'Filtering on password is not allowed.'],
    ['users/?password_hash__startswith=x', 400, "User has no field named 'password_hash'"],
    ['tokens/?token=x', 403, 'Filtering on token is not allowed.'],
    ['tokens/?digest=x', 400, "AccessToken has no field named 'digest'"],
    [
      'notification_templates/?notification_configuration__contains=x',
      403,
      'Filtering on notification_configuration is not allowed.',
    ],
    ['credentials/?inputs=x', 403, 'Filtering on inputs is not allowed.'],
    [
      'organizations/?notification_templates__notification_configuration=x',
      403,
      'Filtering on notification_configuration is not allowed.',
    ],
  ])('%s is refused', async (path, status, detail) => {
    const { body, status: got } = await get(path);
    expect(body).toEqual({ detail });
    expect(got).toBe(status);
  });

  it.each(['2024-13-01', '2024-02-30', 'yesterday', '2024', '2024-01-01T25:00'])(
    'refuse %s as a date',
    async (text) => {
      const { body } = await get(`teams/?created__gte=${text}`).expect(400);
      expect(body.detail).toMatch(/has an invalid format/);
    },
  );

  it('refuse too many parameters', async () => {
    const many = Array.from({ length: 101 }, () => 'name=x').join('&');
    await get(`teams/?${many}`).expect(400);
  });

  it.each(['validate', 'no_truncate', 'limit', 'dry_run', 'hostvars', 'towervars', 'all'])(
    'refuse %s, which is unknown to this list',
    async (name) => {
      for (const path of ['teams/', 'jobs/', `organizations/${red.id}/teams/`]) {
        const { body } = await get(`${path}?${name}=1`).expect(400);
        expect(body).toEqual({ detail: `The parameter ${name} does not apply to this list.` });
      }
    },
  );

  it.each(['type=nonsense', 'type=team,nonsense', 'or__type=nonsense', 'not__type__in=nonsense'])(
    'refuse %s: there is no such type',
    async (query) => {
      for (const path of ['teams/', 'unified_jobs/']) {
        const { body } = await get(`${path}?${query}`).expect(400);
        expect(body).toEqual({ detail: '"nonsense" is not a type of objects.' });
      }
    },
  );

  it('ignore a parameter that clients send to every URL', async () => {
    await get('teams/?format=json').expect(200);
  });
});

describe('information in filters', () => {
  it('is limited to related objects that the caller may read', async () => {
    const { as, make, home } = test;
    const hidden = await make.project({
      organization: home.organization.id,
      name: 'Hidden project',
    });
    const query = 'organizations/?projects__name__startswith=Hidden';
    expect((await as.superuser.get(query)).body.count).toBe(1);
    expect((await as.auditor.get(query)).body.count).toBe(1);
    expect((await as.orgMember.get(query)).body.count).toBe(0);
    const exists = 'organizations/?projects__isnull=false';
    expect((await as.orgMember.get(exists)).body.count).toBe(0);
    await make.grant('project', hidden, 'read_role', { user: as.users.orgMember });
    expect((await as.orgMember.get(query)).body.count).toBe(1);
  });

  it('excludes the order by fields of unreadable objects', async () => {
    const { as, make, database } = test;
    const template = await make.jobTemplate();
    const user = await make.user();
    await make.grant('job_template', template, 'read_role', { user });
    const runs: number[] = [];
    for (const name of ['order b', 'order c', 'order a']) {
      const inventory = await make.inventory({ name });
      const run = await database.row<Row>(
        insertRow('unified_jobs', {
          ...{ type: 'job', name: 'ordered', inventory_id: inventory.id },
          ...{ unified_job_template_id: template.id, job_template_id: template.id },
        }),
      );
      runs.push(run!.id);
    }
    const [b, c, a] = runs;
    const reader = await as.asUser(user);
    for (const [list, path] of [
      ['jobs', 'inventory__name'],
      ['unified_jobs', 'job__inventory__name'],
      ['unified_jobs', 'job__inventory'],
    ]) {
      const ids = async (client: typeof reader, order: string): Promise<number[]> => {
        const query = `${list}/?name=ordered&order_by=${order}${path}`;
        return (await client.get(query).expect(200)).body.results.map(({ id }: Row) => id);
      };
      const isName = path!.endsWith('name');
      expect(await ids(as.superuser, '')).toEqual(isName ? [a, b, c] : [b, c, a]);
      expect(await ids(as.superuser, '-')).toEqual(isName ? [c, b, a] : [a, c, b]);
      if (isName) {
        expect(await ids(reader, '')).toEqual([b, c, a]);
        expect(await ids(reader, '-')).toEqual([b, c, a]);
      }
    }
  });

  it('excludes the count of users by unreadable fields', async () => {
    const path = `teams/?created_by__username__startswith=super`;
    const readable = (await test.as.teamMember.get('teams/')).body.count;
    expect((await test.as.teamMember.get(path)).body.count).toBeLessThanOrEqual(readable);
  });

  it('can be limited to a role of the caller', async () => {
    const { as, home } = test;
    const ids = async (
      who: 'orgAdmin' | 'teamAdmin' | 'teamMember',
      role: string,
    ): Promise<number[]> =>
      (await as[who].get(`teams/?role_level=${role}`).expect(200)).body.results.map(
        ({ id }: Row) => id,
      );
    expect(await ids('teamAdmin', 'admin_role')).toEqual([home.team.id]);
    expect(await ids('teamMember', 'admin_role')).toEqual([]);
    expect(await ids('teamMember', 'member_role')).toEqual([home.team.id]);
    expect(await ids('orgAdmin', 'admin_role')).toEqual([home.team.id]);
  });
});
