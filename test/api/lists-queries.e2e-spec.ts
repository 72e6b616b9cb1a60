/**
 * Every list of the route table sends as many statements for many rows as for one, with every query
 * (docs/contract/lists.md#query-counts).
 *
 * Budget: 30 s, because it counts the statements of every list with 1 and with 25 rows.
 */
import { RoleStore } from '../../src/common/access.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { sql } from '../../src/database/sql.js';
import type { ResourceDefinition } from '../../src/common/resource/define-resource.js';
import { chunksOf, openFields, orders, waysFrom } from '../architecture/declared-queries.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const COPIES = 24;
/** Lists with objects of several types, which send a few statements for each type. */
const MIXED =
  /^\/api\/v2\/(roles|unified_jobs|unified_job_templates|activity_stream|instance_groups\/:id\/jobs)$|\/(access_list|roles|parents|activity_stream)$/;
const STATEMENTS_A_TYPE = 2;
const MIXED_TYPES = 8;
/** List that always has one row. */
const SINGLE = '/api/v2/me';

let test: TestApp;
let samples: Samples;
let lists: TableRoute[];

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  lists = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, info }) => method === 'GET' && info?.kind === 'list')
    .filter(({ info }) => info!.resource!.stored);
  const roles = test.app.get(RoleStore, { strict: false });
  const types = new Set(lists.map(({ info }) => info!.resource!.type));
  await samples.linkAll();
  for (const type of types) {
    const row = await samples.of(type);
    if (['role', 'activity_stream', 'unified_job', 'unified_job_template'].includes(type)) continue;
    await multiply(test.database, roles, type, row, COPIES);
  }
  // The first request of each minute records the use of its token, which is not part of the list.
  await test.database.execute(sql`UPDATE tokens SET last_used = now() + interval '1 hour'`);
}, 60_000);
afterAll(() => test.close());

/** Returns the number of additional statements that a page of many rows may send. */
const moreOf = (pattern: string): number =>
  MIXED.test(pattern) ? STATEMENTS_A_TYPE * MIXED_TYPES : 0;

/** Response to one request for a page of a list. */
interface Asked {
  status: number;
  statements: number;
  /** Number of rows of the page. */
  length: number;
}

async function ask(
  who: 'superuser' | 'teamMember',
  path: string,
  query: string,
  size: number,
): Promise<Asked> {
  const before = test.database.statementCount;
  const { status, body } = await test.as[who].get(`${path}?${query}&page_size=${size}`);
  const statements = test.database.statementCount - before;
  return { status, statements, length: body.results?.length ?? 0 };
}

const isConstant = (pattern: string, one: number, many: number): boolean =>
  many >= one && many <= one + moreOf(pattern);

it('every list returns the readable rows for every caller', async () => {
  const faults: string[] = [];
  const short: string[] = [];
  for (const { pattern, info } of lists) {
    const parent = info?.parent ? String((await samples.of(info.parent.type)).id) : '';
    const path = `${pattern.replace(':id', parent)}/`;
    let longest = 0;
    for (const who of ['superuser', 'teamMember'] as const) {
      // Newest first: rows shipped with the product have no author, and need no query for one.
      const one = await ask(who, path, 'order_by=-id', 1);
      // A list that a team member may not read at all has no statements to count.
      if (one.status === 403 && who === 'teamMember') continue;
      const many = await ask(who, path, 'order_by=-id', COPIES + 1);
      expect([path, one.status, many.status]).toEqual([path, 200, 200]);
      longest = Math.max(longest, many.length);
      if (!isConstant(pattern, one.statements, many.statements))
        faults.push(`${pattern} as ${who}: ${one.statements} and ${many.statements}`);
    }
    if (longest < 2 && !info?.parent && pattern !== SINGLE) short.push(pattern);
  }
  expect(faults).toEqual([]);
  expect(short).toEqual([]);
}, 240_000);

/** Number of query parameters that one request tests. */
const TOGETHER = 8;

/** Returns every filter, related field and order of a list, as queries that match all rows. */
function questions(definition: ResourceDefinition): string[] {
  const filters = [
    ...openFields(definition).map(({ name }) => `or__${name}__isnull=true`),
    ...waysFrom(definition).map(([name]) => `or__${name}__id__gt=0`),
  ];
  return [
    ...chunksOf(filters, TOGETHER).map((some) => ['or__id__gt=0', ...some].join('&')),
    ...chunksOf(orders(definition), TOGETHER).map((some) => `order_by=${some.join()}`),
  ];
}

it('every filter and every order of a list returns the expected rows', async () => {
  const faults: string[] = [];
  const short: string[] = [];
  for (const { pattern, info } of lists) {
    const definition = info?.resource;
    if (!definition || info.parent || pattern === SINGLE) continue;
    // Older rows are shipped with the product: they have no author, and need no query for one.
    const { id } = await samples.of(definition.type);
    // Filters and orders send no statement of their own: a page of one row costs the same with any query.
    const one = await ask('superuser', `${pattern}/`, `id__gte=${id}&order_by=id`, 1);
    for (const question of questions(definition)) {
      const query = `${question}&id__gte=${id}`;
      const many = await ask('superuser', `${pattern}/`, query, COPIES + 1);
      expect([query, one.status, many.status]).toEqual([query, 200, 200]);
      if (!isConstant(pattern, one.statements, many.statements))
        faults.push(`${pattern}?${query}: ${one.statements} and ${many.statements}`);
      if (many.length < 2) short.push(`${pattern}?${query}`);
    }
  }
  expect(faults).toEqual([]);
  expect(short).toEqual([]);
}, 240_000);
