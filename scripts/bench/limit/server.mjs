/**
 * The limit (docs/decisions/0072-bench-limit.md): a server with the least SQL for the same requests,
 * prepared, with `pg` and `node:http` only.
 */
import { createServer } from 'node:http';

import { bulkRoutes } from './bulk.mjs';
import { respondToRead, digestOf, objects, pool } from './reads.mjs';
import { webhookRoutes } from './webhooks.mjs';

const writes = new Map([...bulkRoutes(), ...webhookRoutes(objects)]);

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<{ status: number, body: object }>}
 */
async function answer(request) {
  const path = request.url ?? '';
  const digest = digestOf(request.headers.authorization);
  const read = await respondToRead({ headers: request.headers, path, digest });
  if (read) return { status: 200, body: read };
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
