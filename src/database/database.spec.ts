import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Database } from './database.js';

/** Returns a message of PostgreSQL's protocol: kind, length and content. */
function message(kind: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(kind), length, content]);
}

const AUTHENTICATED = message('R', Buffer.from([0, 0, 0, 0]));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

describe('a connection that ends as soon as it is ready', () => {
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

  it('fails only the transaction', async () => {
    const database = new Database({ driver: { master: pool } } as unknown as DataSource);
    const rows = database.transaction(() => database.rows({ text: 'SELECT 1' }));
    await expect(rows).rejects.toThrow('connection error');
  });
});

describe('work after a commit', () => {
  const sent: string[] = [];
  const client = {
    on: () => undefined,
    off: () => undefined,
    release: () => undefined,
    query: (text: string) => Promise.resolve(void sent.push(text)),
  };
  const pool = { connect: (done: (error: null, client: object) => void) => done(null, client) };
  const database = new Database({ driver: { master: pool } } as unknown as DataSource);
  const failing = (error: Error) => () => {
    throw error;
  };
  let logged: jest.SpiedFunction<Logger['error']>;

  beforeEach(() => {
    sent.length = 0;
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => logged.mockRestore());

  it.each([
    ['an error', new Error('no use')],
    [
      'an error that has a transaction tried again',
      Object.assign(new Error('x'), { code: '40001' }),
    ],
  ])('that fails with %s does not repeat or undo the transaction', async (_case, error) => {
    const done: string[] = [];
    const result = await database.transaction(() => {
      database.afterCommit(failing(error));
      database.afterCommit(() => done.push('the next'));
      return Promise.resolve(done.push('the work'));
    });
    expect(result).toBe(1);
    expect(done).toEqual(['the work', 'the next']);
    expect(sent).toEqual(['BEGIN', 'COMMIT']);
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({ message: 'work after a commit failed' }),
    );
  });

  it('that fails does not throw without a transaction either', () => {
    expect(() => database.afterCommit(failing(new Error('no use')))).not.toThrow();
    expect(logged).toHaveBeenCalledTimes(1);
  });
});
