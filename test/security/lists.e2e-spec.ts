/**
 * Lists never return secrets or unreadable objects, and reject filters and orders that would reveal them.
 *
 * Budget: 25 s, because it filters every list by every secret and every reference.
 */
import type { Field } from '../../src/common/fields/field.js';
import { resources, type ResourceDefinition } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
let listed: readonly ResourceDefinition[];
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  const stored = resources().filter((definition) => definition.stored);
  const answers = await Promise.all(
    stored.map(({ path }) => test.as.superuser.get(`${path}/?page_size=1`)),
  );
  listed = stored.filter((_definition, index) => answers[index]!.status === 200);
});
afterAll(() => test.close());

const isForbidden = (field: Field): boolean => !field.filter;

describe('secrets', () => {
  it('cannot be used in filters or orders of any list, also through relations', async () => {
    const faults: string[] = [];
    const refused = async (path: string, name: string): Promise<void> => {
      const { status, body } = await test.as.superuser.get(path);
      if (status !== 403 || body.detail !== `Filtering on ${name} is not allowed.`) {
        faults.push(`${path}: ${status} ${JSON.stringify(body)}`);
      }
    };
    for (const { path, fields, relations } of listed) {
      for (const { name } of fields.filter(isForbidden)) {
        if (name in relations) continue;
        await refused(`${path}/?${name}__startswith=x`, name);
        await refused(`${path}/?or__not__${name}__isnull=1`, name);
        await refused(`${path}/?order_by=-${name}`, name);
      }
      for (const reference of fields.filter(
        ({ target, internal, column, filter }) => target && !internal && column !== null && filter,
      )) {
        const far = reference.target!();
        for (const { name } of far.fields.filter(isForbidden)) {
          if (name in far.relations) continue;
          await refused(`${path}/?${reference.name}__${name}__startswith=x`, name);
          await refused(`${path}/?order_by=${reference.name}__${name}`, name);
        }
      }
    }
    expect(faults).toEqual([]);
  }, 60_000);

  it('and internal columns are unknown fields to clients', async () => {
    const faults: string[] = [];
    for (const { path, fields, relations } of listed) {
      for (const { name } of fields.filter((field) => field.internal && field.filter)) {
        if (name in relations) continue;
        for (const query of [`${name}=1`, `order_by=${name}`]) {
          const { status, body } = await test.as.superuser.get(`${path}/?${query}`);
          const isUnknown = status === 400 && /has no field named/.test(body.detail);
          if (!isUnknown) faults.push(`${path}/?${query}: ${status}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it('of the contract are all forbidden fields', async () => {
    const forbidden: Record<string, string[]> = {
      users: ['password'],
      credentials: ['inputs'],
      jobs: ['start_args', 'job_args', 'job_env', 'extra_vars'],
      unified_jobs: ['start_args', 'job_args', 'job_env'],
      workflow_jobs: ['extra_vars'],
      job_templates: ['extra_vars', 'survey_spec', 'host_config_key', 'webhook_key'],
      notification_templates: ['notification_configuration'],
      tokens: ['token', 'refresh_token'],
      instance_groups: ['pod_spec_override'],
    };
    for (const [path, names] of Object.entries(forbidden)) {
      for (const name of names) {
        const { body, status } = await test.as.superuser.get(`${path}/?${name}=x`);
        expect({ path, status, body }).toEqual({
          path,
          status: 403,
          body: { detail: `Filtering on ${name} is not allowed.` },
        });
      }
    }
  });
});

describe('objects that the caller may not read', () => {
  it('do not match filters or searches through a reference', async () => {
    const faults: string[] = [];
    for (const { path, type, fields } of listed) {
      const sample = await samples.of(type);
      const { id } = sample;
      for (const who of ['teamMember', 'orgMember', 'outsider', 'nobody'] as const) {
        const client = test.as[who];
        const own = await client.get(`${path}/?id=${id}`);
        if (own.body.count !== 1) continue;
        for (const { name, target, column, internal } of fields) {
          if (!target || column === null || internal) continue;
          const far = target();
          // Approval templates are readable and in no list.
          if (type === 'workflow_approval' && far.type === 'unified_job_template') continue;
          const text = far.fields.find((field) => field.search && field.column !== null);
          const referred = sample[column];
          if (!text || typeof referred !== 'number') continue;
          const matched = await client.get(`${path}/?id=${id}&${name}__${text.name}__icontains=`);
          const readable = (await client.get(`${far.path}/?id=${referred}`)).body.count === 1;
          if (matched.body.count !== Number(readable)) {
            faults.push(`${who} ${path} ${name}: ${matched.body.count}, readable: ${readable}`);
          }
        }
      }
    }
    expect(faults).toEqual([]);
  }, 60_000);
});

describe('limits', () => {
  const words = (count: number): string => Array.from({ length: count }, () => 'x').join(',');

  it.each([
    ['parameters', () => Array.from({ length: 101 }, () => 'name=x').join('&')],
    ['words', () => `search=${words(33)}`],
    ['words over several parameters', () => `search=${words(20)}&search=${words(20)}`],
    ['words of a related search', () => `organization__search=${words(33)}`],
    ['letters', () => `search=${'x'.repeat(513)}`],
    ['orders', () => `order_by=${words(17).replaceAll('x', 'name')}`],
    ['relations', () => 'created_by__roles__members__roles__members__username=x'],
  ])('apply to the number of %s', async (_what, query) => {
    const { body } = await test.as.orgMember.get(`teams/?${query()}`).expect(400);
    expect(body).toEqual({ detail: expect.any(String) });
  });

  it.each([
    ['nested', '(x{1,200}){1,200}', 'The regular expression repeats too much.'],
    ['nested behind a bracket', '[(]((x{9}){9}){99}', 'The regular expression repeats too much.'],
    ['in a row', 'x{255}'.repeat(10), 'The regular expression repeats too much.'],
    ['of groups', '((xyz){20}){40}', 'The regular expression repeats too much.'],
    ['in long', 'x'.repeat(257), 'A regular expression may have at most 256 characters.'],
    ['by other rules', '***:(?x)x', 'The regular expression may not switch to another syntax.'],
    ['with blanks', '(?ix) x', 'The regular expression may not switch to another syntax.'],
  ])('apply to repetitions in a regular expression: %s', async (_how, pattern, detail) => {
    for (const lookup of ['regex', 'iregex']) {
      const query = `username__${lookup}=${encodeURIComponent(pattern)}`;
      const { body } = await test.as.orgMember.get(`users/?${query}`).expect(400);
      expect(body).toEqual({ detail });
    }
  });

  it.each([
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '(?i)^web[[:digit:]]{1,255}$',
    '^[](){200}]+$',
    '\\({2,}x+?',
  ])('permit ordinary regular expressions: %s', async (pattern) => {
    const query = `name__regex=${encodeURIComponent(pattern)}`;
    await test.as.orgMember.get(`teams/?${query}`).expect(200);
  });

  it('permit long lists of ids, and pages up to the maximum', async () => {
    const ids = Array.from({ length: 1500 }, (_, index) => index).join();
    await test.as.superuser.get(`teams/?id__in=${ids}&page_size=100000`).expect(200);
  });

  it('terminate a slow regular expression, and later requests work', async () => {
    const strict = await boot({ settings: { STATEMENT_TIMEOUT_MS: '500' } });
    try {
      await strict.make.team({ description: `${'ab'.repeat(1500)}!` });
      const regex = encodeURIComponent('(.+)+\\1\\1');
      const { body } = await strict.as.superuser
        .get(`teams/?description__regex=${regex}`)
        .expect(503);
      expect(body).toEqual({ detail: 'The request took too long.' });
      await strict.as.superuser.get('teams/?description__regex=^[ab]%2B!$').expect(200);
    } finally {
      await strict.close();
    }
  }, 30_000);

  it('terminate filters earlier than other statements, with an explanation', async () => {
    const strict = await boot({ settings: { LIST_TIMEOUT_MS: '300' } });
    try {
      await strict.make.team({ description: `${'ab'.repeat(1500)}!` });
      const regex = encodeURIComponent('(.+)+\\1\\1');
      const started = performance.now();
      const { body, headers } = await strict.as.superuser
        .get(`teams/?description__regex=${regex}`)
        .expect(503);
      expect(performance.now() - started).toBeLessThan(3000);
      expect(body).toEqual({
        detail:
          'The filters, search or order of this list take too long. Use fewer conditions, or other fields.',
      });
      expect(headers['retry-after']).toBe('5');
    } finally {
      await strict.close();
    }
  }, 30_000);

  it('terminate the filter of a smart inventory, for its hosts and counts', async () => {
    const strict = await boot({ settings: { LIST_TIMEOUT_MS: '300' } });
    try {
      const { make, home, as } = strict;
      const organization = home.organization.id;
      const hosts = await make.inventory({ organization });
      await make.host(hosts, { description: `${'ab'.repeat(1500)}!` });
      const smart = await make.inventory({ organization });
      const filtered = (filter: string) =>
        strict.database.execute(sql`
          UPDATE inventories SET kind = 'smart', host_filter = ${filter} WHERE id = ${smart.id}`);
      await filtered('description__regex="(.+)+\\1\\1"');
      const started = performance.now();
      const { headers } = await as.superuser.get(`inventories/${smart.id}/hosts/`).expect(503);
      expect(headers['retry-after']).toBe('5');
      // The other fields of the inventory do not depend on its filter.
      const shown = await as.superuser.get(`inventories/${smart.id}/`).expect(200);
      expect(shown.body).toMatchObject({ total_hosts: null, has_active_failures: null });
      expect(performance.now() - started).toBeLessThan(6000);
      await filtered('description__regex="^[ab]+!$"');
      const { body } = await as.superuser.get(`inventories/${smart.id}/hosts/`).expect(200);
      expect(body.count).toBe(1);
    } finally {
      await strict.close();
    }
  }, 30_000);

  it('of time need no further statement', async () => {
    const cost = (query: string): Promise<number> =>
      countQueries(test.database, () => test.as.orgMember.get(`teams/?${query}`));
    await cost('name=Home%20Team');
    expect(await cost('name__contains=ome%20Tea')).toBe(await cost('name=Home%20Team'));
  });
});
