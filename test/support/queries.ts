/**
 * Assertions on the number of statements that a request sends. The count covers the whole process: run
 * nothing else at the same time. A refused request cannot be counted, because all refusals cost the same.
 *
 *   await samePageQueries(database, as.orgMember, 'teams/', [1, 50]);
 *   await sameQueries(database, () => launch(one).expect(201), () => launch(many).expect(201));
 */
import type { Database } from '../../src/database/database.js';
import type { ApiClient } from './client.js';

/** Returns the number of statements that `work` sends. An HTTP response must be a success. */
export async function countQueries(
  database: Database,
  work: () => PromiseLike<unknown>,
): Promise<number> {
  const before = database.statementCount;
  const result = await work();
  const count = database.statementCount - before;
  const status = statusOf(result);
  if (status !== null) expect([200, 201, 202, 204]).toContain(status);
  return count;
}

/** Asserts that the work on many rows sends exactly as many statements as the work on one row. */
export async function sameQueries(
  database: Database,
  oneRow: () => PromiseLike<unknown>,
  manyRows: () => PromiseLike<unknown>,
): Promise<void> {
  const one = await countQueries(database, oneRow);
  expect(await countQueries(database, manyRows)).toBe(one);
}

/**
 * Asserts that a list sends exactly as many statements for a page of many rows as for a page of
 * few rows, and that both pages are full.
 */
export async function samePageQueries(
  database: Database,
  client: ApiClient,
  list: string,
  [few, many]: readonly [number, number],
): Promise<void> {
  const page = (size: number) => async () => {
    const path = `${list}${list.includes('?') ? '&' : '?'}page_size=${size}`;
    const { body } = await client.get(path).expect(200);
    expect(body.results).toHaveLength(size);
  };
  // The first request of a token records that the token is used.
  await page(few)();
  await sameQueries(database, page(few), page(many));
}

/** Returns the status of an HTTP response, null for any other result. */
function statusOf(result: unknown): number | null {
  if (typeof result !== 'object' || result === null || !('status' in result)) return null;
  return typeof result.status === 'number' ? result.status : null;
}
