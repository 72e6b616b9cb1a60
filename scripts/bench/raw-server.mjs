/** The raw primitive: recorded SQL through `pg`, the recorded answer as JSON through `node:http`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import pg from 'pg';

const recorded = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

const server = createServer((request, response) => {
  const { statements, body } = recorded[request.url];
  void (async () => {
    for (const statement of statements) await pool.query(statement);
    const text = JSON.stringify(body);
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  })();
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('SIGTERM', () => process.exit(0));
