/** Lists and objects of the limit: one prepared statement each. */
import { createHash } from 'node:crypto';

import pg from 'pg';

import { scenariosOf } from './scenarios.mjs';

/** @typedef {import('./routes.d.mts').Objects} Objects */

pg.types.setTypeParser(1184, (text) => `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
pg.types.setTypeParser(20, Number);

export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL ?? '',
  max: 20,
  // Same options as the product's connections: compilation and parallel workers do not help short statements.
  options: '-c TimeZone=UTC -c jit=off -c max_parallel_workers_per_gather=0',
});

/** @type {Objects} */
export const objects = JSON.parse(process.env.OBJECTS ?? '{}');

const reads = new Map(scenariosOf(objects).map(({ name, read }) => [name, { ...read, name }]));

/** @param {string | undefined} header `Authorization` */
export const digestOf = (header) =>
  createHash('sha256')
    .update((header ?? '').slice('Bearer '.length))
    .digest('hex');

/**
 * @param {{ headers: import('node:http').IncomingHttpHeaders, path: string, digest: string }} request
 * @returns {Promise<object | null>} null for a request without a scenario
 */
export async function respondToRead({ headers, path, digest }) {
  const read = reads.get(String(headers['x-scenario']));
  if (!read) return null;
  const { rows } = await pool.query({ name: read.name, text: read.text, values: [digest] });
  return read.answer(rows, path);
}
