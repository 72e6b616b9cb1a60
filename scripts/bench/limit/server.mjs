/**
 * The limit (docs/decisions/0072-the-limit-of-the-bench.md): the least SQL that answers the same
 * questions, prepared, through `pg` and `node:http`, nothing else.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

import { bulkRoutes } from './bulk.mjs';
import { scenariosOf } from './scenarios.mjs';
import { webhookRoutes } from './webhooks.mjs';

/** @typedef {import('./routes.d.mts').Objects} Objects */

pg.types.setTypeParser(1184, (text) => `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
pg.types.setTypeParser(20, Number);
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL ?? '',
  max: 20,
  options: '-c TimeZone=UTC',
});
/** @type {Objects} */
const objects = JSON.parse(process.env.OBJECTS ?? '{}');
const reads = new Map(scenariosOf(objects).map(({ name, read }) => [name, { ...read, name }]));
const writes = new Map([...bulkRoutes(), ...webhookRoutes(objects)]);

/** @param {string | undefined} header */
const digestOf = (header) =>
  createHash('sha256')
    .update((header ?? '').slice('Bearer '.length))
    .digest('hex');

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<{ status: number, body: object }>}
 */
async function answer(request) {
  const path = request.url ?? '';
  const digest = digestOf(request.headers.authorization);
  const read = reads.get(String(request.headers['x-scenario']));
  if (read) {
    const { rows } = await pool.query({ name: read.name, text: read.text, values: [digest] });
    return { status: 200, body: read.answer(rows, path) };
  }
  const write = writes.get(path);
  if (!write) return { status: 404, body: {} };
  const body = Buffer.concat(await request.toArray());
  return write({ path, headers: request.headers, digest, body }, pool);
}

const server = createServer((request, response) => {
  answer(request).then(
    ({ status, body }) => {
      const text = JSON.stringify(body);
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    },
    (error) => {
      process.stderr.write(`limit: ${error.message}\n`);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('SIGTERM', () => process.exit(0));
