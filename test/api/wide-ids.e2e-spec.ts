/**
 * Ids of runs, activity, deliveries and notifications exceed 2^31 (docs/decisions/0119-bigint-ids.md). The
 * test databases start these ids there, so the other specs cover single features; this file covers rules of
 * all resources, and checks the start itself.
 */
import { RoleStore } from '../../src/common/access.js';
import {
  resource,
  resources,
  type ResourceDefinition,
  type Row,
} from '../../src/common/resource/define-resource.js';
import { idType } from '../../src/common/resource/ids.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { endJob } from '../support/runs.js';
import { Samples } from '../support/samples.js';

const WIDE = [
  ...['activity_stream', 'job', 'project_update', 'inventory_update', 'ad_hoc_command'],
  ...['workflow_job', 'workflow_approval', 'workflow_job_node', 'job_host_summary'],
  ...['notification', 'notification_attempt', 'webhook_delivery', 'webhook_status_post'],
];

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  await test.database.execute(sql`ALTER SEQUENCE unified_jobs_id_seq RESTART 5000000000`);
  samples = new Samples(test);
});
afterAll(() => test.close());

const get = (path: string) => test.as.superuser.get(path);
const stored = (): ResourceDefinition[] => resources().filter((one) => one.stored && !one.variants);

const idsAt = async (path: string): Promise<number[]> =>
  (await get(path).expect(200)).body.results.map(({ id }: Row) => id);

it.each(WIDE)('a %s has an id beyond 2^31', async (type) => {
  expect(idType(resource(type))).toBe('bigint');
  expect((await samples.of(type)).id).toBeGreaterThan(2 ** 31);
});

describe('a row with an id beyond 2^31', () => {
  const wide = WIDE.filter((type) => !/summary|attempt|post/.test(type));

  it.each(wide)('of type %s is found by it, and by objects that refer to it', async (type) => {
    const { id } = await samples.of(type);
    const { path } = resource(type);
    const { body } = await get(`${path}/${id}/`).expect(200);
    expect(body.id).toBe(id);
    expect(body.url).toBe(`/api/v2/${path}/${id}/`);
    for (const url of Object.values(body.related as Record<string, string>).flat()) {
      const { status } = await get(url);
      expect([url, status, status < 500]).toEqual([url, status, true]);
    }
    for (const query of [`id=${id}`, `id__in=1,${id}`, `id__gte=${id}&id__lte=${id}`]) {
      expect(await idsAt(`${path}/?${query}`)).toEqual([id]);
    }
    expect(await idsAt(`${path}/?id__gt=${id + 100_000}`)).toEqual([]);
  });

  it.each(['job', 'notification', 'webhook_delivery', 'activity_stream'])(
    'of type %s can be a cursor in a list',
    async (type) => {
      const roles = test.app.get(RoleStore, { strict: false });
      const row = await samples.of(type);
      const copies = await multiply(test.database, roles, type, row, 6);
      for (const order of ['id', '-id']) {
        const found: number[] = [];
        let next: string | null = `/api/v2/${resource(type).path}/?page_size=2&order_by=${order}`;
        next += `&id__gte=${row.id}&id__lte=${copies.at(-1)}`;
        while (next !== null) {
          const { body }: { body: { next: string | null; results: Row[] } } =
            await get(next).expect(200);
          if (body.next !== null) expect(body.next).toContain('after=');
          found.push(...body.results.map(({ id }) => id));
          ({ next } = body);
        }
        const inOrder = order === 'id' ? [...found] : [...found].reverse();
        expect(inOrder).toEqual([...found].sort((one, other) => one - other));
        expect(found).toEqual(expect.arrayContaining([row.id, ...copies]));
      }
    },
  );

  it('is shown on objects that refer to it', async () => {
    const job = await samples.of('job');
    await endJob(test, job);
    const host = await samples.of('host');
    const summary = await samples.of('job_host_summary');
    await test.database.execute(sql`
      UPDATE hosts SET last_job_id = ${job.id}, last_job_host_summary_id = ${summary.id}
      WHERE id = ${host.id}`);
    const { body } = await get(`hosts/${host.id}/`).expect(200);
    expect(body).toMatchObject({ last_job: job.id, last_job_host_summary: summary.id });
    expect(body.summary_fields.last_job.id).toBe(job.id);
    expect(await idsAt(`hosts/?last_job=${job.id}`)).toEqual([host.id]);
    expect(await idsAt(`hosts/?last_job__id__in=${job.id},7`)).toEqual([host.id]);
    expect(await idsAt(`hosts/?last_job__id__gt=${job.id}`)).toEqual([]);
    const found = await get(`search/?limit=50&q=${encodeURIComponent(String(job.name))}`).expect(
      200,
    );
    expect(JSON.stringify(found.body)).toContain(String(job.id));
  });
});

/** Ids beyond the range of a column, or beyond the integers that JavaScript can represent. */
const BEYOND = [
  ...['2147483648', '9007199254740991', '9007199254740993', '9223372036854775808'],
  ...['99999999999999999999', '0'],
];

describe('an unused id', () => {
  it('is not found, in the path of any resource', async () => {
    for (const { path } of stored()) {
      for (const id of BEYOND) {
        expect([path, id, (await get(`${path}/${id}/`)).status]).toEqual([path, id, 404]);
      }
    }
  });

  it('matches nothing in the filters of any list', async () => {
    for (const definition of stored()) {
      const { path } = definition;
      // Some resources have lists only below other objects.
      if ((await get(`${path}/`)).status === 404) continue;
      const references = definition.fields.filter(
        ({ target, column, internal, filter }) => target && column && !internal && filter,
      );
      for (const name of ['id', ...references.map((one) => one.name)]) {
        for (const query of [`${name}__in=${BEYOND.join()}`, `${name}=${BEYOND.at(-2)}`]) {
          const url = `${path}/?${query}&count_disabled=1`;
          expect([url, await idsAt(url)]).toEqual([url, []]);
        }
      }
      const all = await get(`${path}/?id__lt=99999999999999999999&page_size=1`).expect(200);
      const total = await get(`${path}/?page_size=1`).expect(200);
      expect([path, all.body.count]).toEqual([path, total.body.count]);
      expect(await idsAt(`${path}/?id__lt=-99999999999999999999`)).toEqual([]);
    }
  });

  it('is refused in bodies, because the object does not exist', async () => {
    for (const id of [2 ** 31, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 3, 1e20, 0, -1]) {
      const { body } = await test.as.superuser
        .post('teams/', { name: 'Nobody', organization: id })
        .expect(400);
      expect(body.organization).toEqual([expect.stringContaining('object does not exist')]);
    }
  });

  it('creates no cursor in a list', async () => {
    const { path } = resource('job');
    for (const id of [Number.MAX_SAFE_INTEGER + 3, 1.5, -1e30]) {
      const after = Buffer.from(JSON.stringify([2, 'id', id])).toString('base64url');
      await get(`${path}/?order_by=id&page=2&after=${after}`).expect(400);
    }
  });
});

it('the OpenAPI document declares each such id with 64 bits', async () => {
  const { body } = await test.as.anonymous.get('/api/openapi.json').expect(200);
  const { Job, Host, Team } = body.components.schemas;
  expect(Job.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
  expect(Job.properties.project_update).toMatchObject({ format: 'int64' });
  expect(Host.properties.last_job).toMatchObject({ format: 'int64' });
  expect(Team.properties.id.format).toBeUndefined();
});
