/** The raw primitive: recorded SQL through `pg`, the recorded answer as JSON through `node:http`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';

import { NONCE } from './nonce.mjs';

const recorded = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

/** What a request with a nonce of its own replays; JSON made anew stands for reading its body. */
function exchangeOf(key, nonce) {
  const { text, ...exchange } = recorded[key];
  return nonce === undefined ? exchange : JSON.parse(text.replaceAll(NONCE, nonce));
}
for (const one of Object.values(recorded)) one.text = JSON.stringify(one);

async function replay(statements) {
  let transaction = null;
  try {
    for (const statement of statements) {
      if (statement.text === 'BEGIN') transaction = await pool.connect();
      await (transaction ?? pool).query(statement);
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
