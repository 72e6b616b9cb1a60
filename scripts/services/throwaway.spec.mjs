import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';

import pg from 'pg';

import { startThrowawayServices } from './throwaway.mjs';

describe('temporary services', () => {
  /** @type {import('./throwaway.mjs').ThrowawayServices} */
  let services;
  /** @param {string} text */
  const query = async (text) => {
    const client = new pg.Client({ connectionString: String(services.databaseUrl) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };

  beforeAll(async () => {
    services = await startThrowawayServices();
  }, 60_000);
  afterAll(() => services.stop());

  it('permit their role to create databases', async () => {
    await query('CREATE DATABASE another');
    expect(await query("SELECT 1 AS one FROM pg_database WHERE datname = 'another'")).toEqual([
      { one: 1 },
    ]);
  });

  // Runs share the network of the machine, and these are on it.
  it('require their passwords', async () => {
    for (const role of [new URL(String(services.databaseUrl)).username, 'postgres']) {
      const url = new URL(String(services.databaseUrl));
      Object.assign(url, { username: role, password: 'guessed' });
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => undefined);
      await expect(client.connect()).rejects.toThrow('password authentication failed');
    }
    const socket = connect(Number(new URL(String(services.redisUrl)).port), '127.0.0.1');
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^-NOAUTH /);
  });

  it('restart at the same address with their data after a hard stop', async () => {
    await query('CREATE TABLE kept (id int)');
    // A backend that computes does not notice that its server was killed.
    const computed = query(
      'SELECT sum(a * b) FROM generate_series(1, 5000) a, generate_series(1, 5000) b',
    );
    const ended = expect(computed).rejects.toThrow('terminated');
    const computing =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT sum%'";
    while ((await query(computing)).length === 0);
    await services.halt('postgres');
    await ended;
    await expect(query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await services.resume('postgres');
    expect(await query('SELECT * FROM kept')).toEqual([]);
    await services.halt('redis');
    await services.resume('redis');
  }, 60_000);

  it('leave no files or processes', async () => {
    const other = await startThrowawayServices({ redis: false });
    expect(other.redisUrl).toBeNull();
    await other.stop();
    const inMemory = join('/dev/shm', basename(other.folder));
    for (const folder of [other.folder, inMemory]) expect(existsSync(folder)).toBe(false);
  }, 60_000);
});
