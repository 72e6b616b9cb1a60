/**
 * Every list of the route table sends as many statements for many rows as for one, whatever it is asked
 * for (docs/contract/lists.md#query-counts).
 *
 * Budget: 40 s, because it counts the statements of every list with 1 and with 25 rows.
 */
import { RoleStore } from '../../src/common/access.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { sql } from '../../src/database/sql.js';
import type { ResourceDefinition } from '../../src/common/resource/define-resource.js';
import { chunksOf, openFields, orders, waysFrom } from '../architecture/declared-queries.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const COPIES = 24;
/** Lists whose rows speak of objects of several types: a few statements for each type among them. */
const MIXED =
  /^\/api\/v2\/(roles|unified_jobs|unified_job_templates|activity_stream|instance_groups\/:id\/jobs)$|\/(access_list|roles|parents|activity_stream)$/;
const STATEMENTS_A_TYPE = 2;
const MIXED_TYPES = 8;
/** Has one row by its nature. */
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
  await samples.tieAll();
  for (const type of types) {
    const row = await samples.of(type);
    if (['role', 'activity_stream', 'unified_job', 'unified_job_template'].includes(type)) continue;
    await multiply(test.database, roles, type, row, COPIES);
  }
  // The first request of each minute notes the use of its token; that is no part of the list.
  await test.database.execute(sql`UPDATE tokens SET last_used = now() + interval '1 hour'`);
}, 60_000);
afterAll(() => test.close());

/** How many more statements many rows may take than one. */
const moreOf = (pattern: string): number =>
  MIXED.test(pattern) ? STATEMENTS_A_TYPE * MIXED_TYPES : 0;

interface Asked {
  /** Statements for a page of one row, and for one of twenty-five. */
  counts: readonly [one: number, many: number];
  /** Rows of the longer page. */
  length: number;
}

async function ask(who: 'superuser' | 'teamMember', path: string, query: string): Promise<Asked> {
  let length = 0;
  const get = (size: number) => async (): Promise<void> => {
    const { body } = await test.as[who].get(`${path}?${query}&page_size=${size}`).expect(200);
    length = body.results.length;
  };
  const one = await countQueries(test.database, get(1));
  const many = await countQueries(test.database, get(COPIES + 1));
  return { counts: [one, many], length };
}

const isConstant = (pattern: string, [one, many]: Asked['counts']): boolean =>
  many >= one && many <= one + moreOf(pattern);

it('holds for every list and every caller', async () => {
  const faults: string[] = [];
  const short: string[] = [];
  for (const { pattern, info } of lists) {
    const parent = info?.parent ? String((await samples.of(info.parent.type)).id) : '';
    const path = `${pattern.replace(':id', parent)}/`;
    let longest = 0;
    for (const who of ['superuser', 'teamMember'] as const) {
      const { status } = await test.as[who].get(path);
      // What a member of a team may not see at all has no list to count.
      if (status === 403 && who === 'teamMember') continue;
      // Newest first: what comes with the program has no author that would be asked for.
      const { counts, length } = await ask(who, path, 'order_by=-id');
      longest = Math.max(longest, length);
      if (!isConstant(pattern, counts))
        faults.push(`${pattern} as ${who}: ${counts.join(' and ')}`);
    }
    if (longest < 2 && !info?.parent && pattern !== SINGLE) short.push(pattern);
  }
  expect(faults).toEqual([]);
  expect(short).toEqual([]);
}, 240_000);

/** Parts of a query string that one request takes. */
const TOGETHER = 8;

/** Every filter, related field and order of a list, as queries that all rows answer. */
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

it('holds for every filter and every order of a collection', async () => {
  const faults: string[] = [];
  const short: string[] = [];
  for (const { pattern, info } of lists) {
    const definition = info?.resource;
    if (!definition || info.parent || pattern === SINGLE) continue;
    // Older rows come with the program, and have no author that would be asked for.
    const { id } = await samples.of(definition.type);
    for (const question of questions(definition)) {
      const query = `${question}&id__gte=${id}`;
      const { counts, length } = await ask('superuser', `${pattern}/`, query);
      if (!isConstant(pattern, counts)) faults.push(`${pattern}?${query}: ${counts.join(' and ')}`);
      if (length < 2) short.push(`${pattern}?${query}`);
    }
  }
  expect(faults).toEqual([]);
  expect(short).toEqual([]);
}, 240_000);
