import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import pg from 'pg';
import type { DataSource } from 'typeorm';

import { Database } from './database.js';

/** A message of PostgreSQL's protocol: its kind, its length, its content. */
function message(kind: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(kind), length, content]);
}

const AUTHENTICATED = message('R', Buffer.from([0, 0, 0, 0]));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

describe('a connection that ends in the moment it is ready', () => {
  let server: Server;
  let pool: pg.Pool;

  beforeAll(async () => {
    const answer = (socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])));
    };
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    pool = new pg.Pool({ host: '127.0.0.1', port, user: 'nobody', max: 1 });
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    server.close();
  });

  it('fails the transaction and nothing else', async () => {
    const database = new Database({ driver: { master: pool } } as unknown as DataSource);
    const rows = database.transaction(() => database.rows({ text: 'SELECT 1' }));
    await expect(rows).rejects.toThrow('connection error');
  });
});
