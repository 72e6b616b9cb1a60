/** The raw primitive: recorded SQL through `pg`, the recorded answer as JSON through `node:http`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';

import { idsIn, NONCE } from './nonce.mjs';

const recorded = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

/** What a request with a nonce of its own replays; JSON made anew stands for reading its body. */
function exchangeOf(key, nonce) {
  const { text, ...exchange } = recorded[key];
  return nonce === undefined ? exchange : JSON.parse(text.replaceAll(NONCE, nonce));
}
for (const one of Object.values(recorded)) one.text = JSON.stringify(one);

/** Ids that were new at the recording are, in later statements, those that are new now. */
async function replay(statements) {
  const newIds = new Map();
  const renewed = (value) =>
    Array.isArray(value) ? value.map(renewed) : (newIds.get(value) ?? value);
  let transaction = null;
  try {
    for (const { ids, ...statement } of statements) {
      if (statement.text === 'BEGIN') transaction = await pool.connect();
      if (newIds.size > 0) statement.values = statement.values.map(renewed);
      const { rows } = await (transaction ?? pool).query(statement);
      if (ids.length > 0) {
        const made = idsIn(rows);
        ids.forEach((id, index) => newIds.set(id, made[index]));
      }
      if (statement.text !== 'COMMIT') continue;
      transaction.release();
      transaction = null;
    }
  } finally {
    transaction?.release(true);
  }
}

async function answer(request, response) {
  for await (const chunk of request) void chunk;
  const { statements, status, body } = exchangeOf(
    request.headers['x-exchange'] ?? request.url,
    request.headers['x-nonce'],
  );
  await replay(statements);
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    process.stderr.write(`raw: ${error.message}\n`);
    response.writeHead(500).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('SIGTERM', () => process.exit(0));
