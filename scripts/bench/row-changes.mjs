import { withDatabase } from './world.mjs';

/** @typedef {{ answer: import('./types.d.mts').Answer, rows: Record<string, number> }} Changed */

/**
 * Sends a request to the product and to the limit, and returns each response with the number of rows that
 * each table gained.
 *
 * @param {import('./types.d.mts').World} world
 * @param {readonly string[]} tables
 * @param {(server: 'product' | 'limit') => Promise<import('./types.d.mts').Answer>} send
 * @returns {Promise<{ product: Changed, limit: Changed }>}
 */
export async function changesOf({ environment }, tables, send) {
  const changed = async (/** @type {'product' | 'limit'} */ server) => {
    const url = new URL(environment.DATABASE_URL);
    if (server === 'limit') url.pathname += '_limit';
    const before = await countsOf(url.href, tables);
    const answer = await send(server);
    const after = await countsOf(url.href, tables);
    const rows = tables.map((table, index) => [table, (after[index] ?? 0) - (before[index] ?? 0)]);
    return { answer, rows: Object.fromEntries(rows) };
  };
  return { product: await changed('product'), limit: await changed('limit') };
}

/**
 * @param {string} url
 * @param {readonly string[]} tables
 * @returns {Promise<number[]>}
 */
const countsOf = (url, tables) =>
  withDatabase(url, async (client) => {
    const counts = [];
    for (const table of tables) {
      const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${table}`);
      counts.push(rows[0].count);
    }
    return counts;
  });
