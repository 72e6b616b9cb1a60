/**
 * Bounds on the statements a request sends. Counting is over the whole process: do nothing else
 * meanwhile.
 *
 *   await expectQueries(database, 8, () => as.superuser.post('bulk/host_create/', body).expect(201));
 *   await sameQueries(database, () => as.orgMember.get('teams/?page_size=1'), () => as.orgMember.get('teams/?page_size=50'));
 */
import type { Database } from '../../src/database/database.js';

/** How many statements `work` sends. */
export async function countQueries(
  database: Database,
  work: () => PromiseLike<unknown>,
): Promise<number> {
  const before = database.statementCount;
  await work();
  return database.statementCount - before;
}

export async function expectQueries(
  database: Database,
  max: number,
  work: () => PromiseLike<unknown>,
): Promise<void> {
  expect(await countQueries(database, work)).toBeLessThanOrEqual(max);
}

/** Asserts that the work on many rows sends exactly as many statements as that on one. */
export async function sameQueries(
  database: Database,
  oneRow: () => PromiseLike<unknown>,
  manyRows: () => PromiseLike<unknown>,
): Promise<void> {
  const one = await countQueries(database, oneRow);
  expect(await countQueries(database, manyRows)).toBe(one);
}
