/**
 * Long lists: page walks during changes, pages far from the start, exact totals
 * (docs/contract/lists.md#long-lists).
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { IS_DEEP } from '../support/depth.js';
import { countQueries } from '../support/queries.js';

/**
 * Number of rows, far more than are counted and skipped row by row (`DEEP` in
 * src/common/list/list-statements.ts).
 */
const LENGTH = IS_DEEP ? 100_000 : 10_000;
/** Number of a page far from the start, with 25 rows per page. */
const FAR = (LENGTH / 25) * 0.75;

let test: TestApp;
let inventory: Row;
let ids: number[];
let reader: ApiClient;
beforeAll(async () => {
  test = await boot();
  const { make, as } = test;
  inventory = await make.inventory();
  ids = await make.hosts(inventory, LENGTH, 'walked');
  const user = await make.user();
  await make.grant('inventory', inventory, 'read_role', { user });
  reader = await as.asUser(user);
  await test.database.execute(sql`VACUUM ANALYZE hosts`);
}, 120_000);
afterAll(() => test.close());

interface Answer {
  count?: number;
  next: string | null;
  previous: string | null;
  results: { id: number; name: string }[];
}

const get = async (path: string): Promise<Answer> => (await reader.get(path).expect(200)).body;

/** Deletes hosts before and after the position of the walk, and creates new ones all over the list. */
async function disturb(round: number, gone: Set<number>): Promise<void> {
  const doomed = Array.from({ length: 20 }, (_, i) => ids[(round * 7919 + i * 503) % LENGTH]!);
  for (const id of doomed) gone.add(id);
  await test.database.execute(sql`DELETE FROM hosts WHERE id = ANY(${doomed}::int[])`);
  await test.database.execute(sql`
    INSERT INTO hosts (name, inventory_id)
    SELECT ${'walked'} || '-' || lpad((number * ${LENGTH / 20 - 1}::int)::text, 7, '0') || '-new-' || ${round}::int,
      ${inventory.id} FROM generate_series(1, 20) AS number`);
}

it('pages contain every remaining row once, while rows are added and deleted', async () => {
  const seen: number[] = [];
  const gone = new Set<number>();
  let path: string | null = '/api/v2/hosts/?page_size=200&count_disabled=1';
  for (let round = 1; path !== null; round++) {
    const [page]: [Answer, void] = await Promise.all([get(path), disturb(round, gone)]);
    seen.push(...page.results.map(({ id }) => id));
    expect(page.previous === null).toBe(round === 1);
    path = page.next;
  }
  const once = new Set(seen);
  expect(once.size).toBe(seen.length);
  expect(ids.filter((id) => !gone.has(id) && !once.has(id))).toEqual([]);
  const { count } = await get('/api/v2/hosts/?page_size=1');
  const stored = await test.database.row<{ total: number }>(sql`
    SELECT count(*)::int AS total FROM hosts WHERE inventory_id = ${inventory.id}`);
  expect(count).toBe(stored?.total);
}, 120_000);

it('pages work in descending order and with equal values', async () => {
  for (const order of ['-id', 'created', '-created,name', 'inventory__name,name']) {
    const seen: number[] = [];
    let path: string | null =
      `/api/v2/hosts/?page_size=50&order_by=${order}&name__startswith=walked-00001`;
    while (path !== null) {
      const page: Answer = await get(path);
      seen.push(...page.results.map(({ id }) => id));
      path = page.next;
    }
    const { count } = await get('/api/v2/hosts/?page_size=1&name__startswith=walked-00001');
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(count!);
  }
});

it('any page is found by its number, with and without the total', async () => {
  const all = await test.database.rows<{ id: number }>(sql`
    SELECT id FROM hosts WHERE inventory_id = ${inventory.id} ORDER BY name, id`);
  const last = Math.ceil(all.length / 200);
  for (const page of [1, 2, 6, Math.floor(last / 2), last - 3, last]) {
    const expected = all.slice((page - 1) * 200, page * 200).map(({ id }) => id);
    for (const extra of ['', '&count_disabled=1', '&name__startswith=walked']) {
      const answer = await get(`/api/v2/hosts/?page_size=200&page=${page}${extra}`);
      expect(answer.results.map(({ id }) => id)).toEqual(expected);
      expect(answer.next === null).toBe(page === last);
      expect(answer.previous === null).toBe(page === 1);
    }
  }
  const end = await get('/api/v2/hosts/?page_size=200&page=last');
  expect(end.results.at(-1)?.id).toBe(all.at(-1)?.id);
  await reader.get(`hosts/?page_size=200&page=${last + 1}`).expect(404);
  await reader.get(`hosts/?page_size=200&page=${last + 1}&count_disabled=1`).expect(404);
});

it('links keep the filters, and a changed page number is applied', async () => {
  const first = await get('/api/v2/hosts/?page_size=5&name__contains=walked&order_by=-name');
  const next = new URL(first.next!, 'http://localhost');
  expect(Object.fromEntries(next.searchParams)).toMatchObject({
    name__contains: 'walked',
    order_by: '-name',
    page: '2',
    page_size: '5',
  });
  next.searchParams.set('page', '3');
  const third = await get(`${next.pathname}${next.search}`);
  const plain = await get('/api/v2/hosts/?page_size=5&name__contains=walked&order_by=-name&page=3');
  expect(third.results).toEqual(plain.results);
  expect(third.previous).not.toContain('after=');
});

it('the last page is empty if the rows after the cursor were deleted', async () => {
  const { make } = test;
  const own = await make.inventory();
  const made = await make.hosts(own, 3, 'short');
  const { body } = await test.as.superuser
    .get(`inventories/${own.id}/hosts/?page_size=2`)
    .expect(200);
  await test.database.execute(sql`DELETE FROM hosts WHERE id = ${made[2]}`);
  const rest = await test.as.superuser.get(body.next).expect(200);
  expect(rest.body).toMatchObject({ count: 2, next: null, results: [] });
});

it('page numbers are used if the order is by long texts', async () => {
  const { make, as } = test;
  const own = await make.inventory();
  for (const letter of ['c', 'a', 'b']) await make.host(own, { description: letter.repeat(5000) });
  const path = `inventories/${own.id}/hosts/?page_size=2&order_by=description`;
  const first = await as.superuser.get(path).expect(200);
  expect(first.body.next).not.toContain('after=');
  const rest = await as.superuser.get(first.body.next).expect(200);
  expect(rest.body.results[0].description).toMatch(/^c/);
});

it('a cursor that no list returned is refused', async () => {
  const encode = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const wrong = [
    'nonsense',
    encode(null),
    encode({ page: 2 }),
    encode([2, 'name,id', 'x']),
    encode([2, 'name,id', 'x', 1, 1]),
    encode([2, 'name,id', 1, 1]),
    encode([2, 'name,id', 'x\u0000', 1]),
    encode([2, 'name,id', 'x', 2 ** 31]),
    encode([2, 'name,id', null, 1]),
    encode([2, 'name,id', 'x', null]),
    encode([2, 'name,id', 'x', "1'; DROP TABLE hosts"]),
  ];
  for (const after of wrong) {
    await reader.get(`hosts/?page=2&page_size=2&after=${after}`).expect(400);
  }
  const dates = ['2026-02-30T00:00:00Z', 'yesterday', '2026-01-01T25:00:00Z'];
  for (const date of dates) {
    const after = encode([2, 'created,id', date, 1]);
    await reader.get(`hosts/?page=2&page_size=2&order_by=created&after=${after}`).expect(400);
  }
});

it('a distant page needs at most one statement more, for the total', async () => {
  const count = (page: number) =>
    countQueries(test.database, async () => {
      const { results } = await get(`/api/v2/hosts/?count_disabled=1&page=${page}`);
      expect(results).not.toEqual([]);
    });
  const near = await count(2);
  const far = await count(FAR);
  expect(far - near).toBeLessThanOrEqual(1);
});

it.each([
  'last_job,-name',
  '-last_job,name',
  'last_job_host_summary',
  'description,-instance_id',
  'created_by__username,name',
  '-inventory__name,-created_by__username',
  'inventory__organization__name,-id',
  'type',
])('pages in the order of %s work with nulls, while rows are added and deleted', async (order) => {
  const { make, as, database } = test;
  const own = await make.inventory();
  const made = await make.hosts(own, 120, 'sparse');
  // A third was created by a user visible to the caller, a third by an invisible one.
  const [shown, hidden] = [as.users.superuser.id, (await make.user()).id];
  await database.execute(sql`
    UPDATE hosts SET created_by_id = CASE id % 3 WHEN 0 THEN ${shown}::int WHEN 1 THEN ${hidden}::int END,
      description = CASE id % 2 WHEN 0 THEN '' ELSE 'described' END
    WHERE inventory_id = ${own.id}`);
  const user = await make.user();
  await make.grant('inventory', own, 'read_role', { user });
  const client = await as.asUser(user);
  const all = `inventories/${own.id}/hosts/?page_size=200&order_by=${order}`;
  const expected = (await client.get(all).expect(200)).body.results.map(({ id }: Row) => id);
  const seen: number[] = [];
  const gone: number[] = [];
  let path: string | null = `/api/v2/inventories/${own.id}/hosts/?page_size=7&order_by=${order}`;
  while (path !== null) {
    const { body }: { body: Answer } = await client.get(path).expect(200);
    seen.push(...body.results.map(({ id }) => id));
    path = body.next;
    if (path !== null) expect(path).toContain('after=');
    const doomed = seen[gone.length * 5];
    if (doomed !== undefined && gone.length < 8) {
      gone.push(doomed);
      await database.execute(sql`DELETE FROM hosts WHERE id = ${doomed}`);
    }
  }
  expect(seen).toEqual(expected);
  expect(new Set(seen).size).toBe(made.length);
});
