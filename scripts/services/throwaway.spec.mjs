import { existsSync } from 'node:fs';

import pg from 'pg';

import { startThrowawayServices } from './throwaway.mjs';

describe('throw-away services', () => {
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

  it('let their role make databases', async () => {
    await query('CREATE DATABASE another');
    expect(await query("SELECT 1 AS one FROM pg_database WHERE datname = 'another'")).toEqual([
      { one: 1 },
    ]);
  });

  it('come back at the same address with their data after a hard stop', async () => {
    await query('CREATE TABLE kept (id int)');
    await services.halt('postgres', 'SIGQUIT');
    await expect(query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await services.resume('postgres');
    expect(await query('SELECT * FROM kept')).toEqual([]);
    await services.halt('redis');
    await services.resume('redis');
  }, 60_000);

  it('leave nothing behind', async () => {
    const other = await startThrowawayServices({ redis: false });
    expect(other.redisUrl).toBeNull();
    await other.stop();
    expect(existsSync(other.folder)).toBe(false);
  }, 60_000);
});
