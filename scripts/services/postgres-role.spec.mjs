/**
 * Budget: 30 s, because it creates two clusters of PostgreSQL and starts each several times.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { run } from '../processes/run.mjs';
import { Supervisor } from '../processes/supervise.mjs';
import { asAccount, databaseAccount } from './account.mjs';
import { reachableServer } from './postgres-folders.mjs';
import { awaitPostgres, startPostgres } from './postgres.mjs';

const PASSWORD = 'of-an-earlier-start';

describe('the database role of the service', () => {
  /** @type {import('./account.mjs').Account | null} */
  let account;
  /** @type {string} */
  let home;
  /** @type {Supervisor} */
  let supervisor;
  /** @type {string[]} */
  let homes;

  const start = async () => {
    const logFile = join(home, 'postgres.log');
    return startPostgres({ supervisor, home, account, logFile });
  };
  /**
   * @param {string} connectionString
   * @param {string} text
   */
  const query = async (connectionString, text) => {
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const attributes = `
    SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
      (SELECT count(*)::int FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships,
      pg_get_userbyid(datdba) = rolname AS owns_database
    FROM pg_roles JOIN pg_database ON datname = current_database() WHERE rolname = current_user`;
  const ordinary = {
    rolsuper: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolreplication: false,
    rolbypassrls: false,
    memberships: 0,
    owns_database: true,
  };

  beforeAll(async () => {
    account = await databaseAccount();
    homes = [];
  });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'role-'));
    homes.push(home);
    chmodSync(home, 0o711);
    supervisor = new Supervisor();
  });
  afterEach(() => supervisor.close([['postgres']]));
  afterAll(() => {
    for (const folder of homes) rmSync(folder, { recursive: true });
  });

  it('owns its database, and only that, after every start', async () => {
    const { url } = await start();
    expect(await query(url, attributes)).toEqual([ordinary]);
    for (const [text, refusal] of [
      ["COPY (SELECT 1) TO PROGRAM 'true'", 'permission denied to COPY'],
      ["SELECT pg_read_file('PG_VERSION')", 'permission denied for function'],
      ['CREATE ROLE another SUPERUSER', 'permission denied to create role'],
      ['ALTER SYSTEM SET work_mem = 1024', 'permission denied to set parameter'],
    ]) {
      await expect(query(url, String(text))).rejects.toThrow(refusal);
    }
    await query(url, 'CREATE EXTENSION pg_trgm');

    // It loses permissions that were granted to it, and gets a new database if its own was dropped.
    const elsewhere = url.replace(/controller$/, 'template1');
    await query(elsewhere, 'DROP DATABASE controller');
    await supervisor.stop(['postgres']);
    standAlone(account, home, 'ALTER ROLE controller SUPERUSER CREATEROLE', 'template1');
    const prepared = await start();
    expect(await query(url, attributes)).toEqual([ordinary]);

    // The service has access to rows only if migrations have their own role.
    await supervisor.stop(['postgres']);
    standAlone(account, home, `CREATE ROLE service LOGIN PASSWORD '${PASSWORD}'`);
    supervisor.start(prepared.program);
    const logFile = join(home, 'postgres.log');
    await awaitPostgres({ url: prepared.url, exited: supervisor.exited('postgres'), logFile });
    const service = new URL(prepared.url);
    service.username = 'service';
    service.password = PASSWORD;
    const env = { DATABASE_URL: service.href, REDIS_URL: 'redis://127.0.0.1:1', SECRET_KEY: 'x' };
    const program = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
    /**
     * @param {string} command
     * @param {Record<string, string>} [more]
     */
    const cli = (command, more = {}) =>
      run(process.execPath, [program, command], {
        env: { ...process.env, ...env, ADMIN_PASSWORD: PASSWORD, ...more },
      });

    await expect(cli('migrate')).rejects.toThrow('failed with code 1');
    for (let time = 0; time < 2; time += 1) {
      await cli('migrate', { MIGRATION_DATABASE_URL: prepared.url });
    }
    await cli('ensure-admin');
    expect(await query(service.href, 'SELECT username FROM users')).toEqual([
      { username: 'admin' },
    ]);
    await expect(query(service.href, 'DROP TABLE users')).rejects.toThrow('must be owner');
    await expect(query(service.href, 'CREATE TABLE another ()')).rejects.toThrow(
      'permission denied',
    );
  }, 60_000);

  it('takes over the objects of the superuser of an earlier cluster', async () => {
    earlierCluster(account, home);
    await supervisor.close([['postgres']]);
    supervisor = new Supervisor();
    for (let time = 0; time < 2; time += 1) {
      const { url } = await start();
      expect(await query(url, attributes)).toEqual([ordinary]);
      expect(await query(url, 'SELECT * FROM kept')).toEqual([{ id: 1, kind: 'one' }]);
      await query(url, 'ALTER TABLE kept ADD COLUMN more int; ALTER TABLE kept DROP COLUMN more');
      await query(url, "ALTER TYPE kind ADD VALUE IF NOT EXISTS 'two'");
      await query(url, 'CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql AS $$SELECT 1$$');
      await query(url, 'ALTER VIEW seen RENAME TO looked_at; ALTER VIEW looked_at RENAME TO seen');
      expect(new URL(url).password).toBe(PASSWORD);
      await supervisor.stop(['postgres']);
    }
  }, 60_000);
});

/**
 * @param {import('./account.mjs').Account | null} account
 * @param {string} home
 * @param {string} input
 * @param {string} [database]
 */
function standAlone(account, home, input, database = 'controller') {
  const { folder } = reachableServer(account);
  const args = ['--single', '-c', 'exit_on_error=on', '-D', join(home, 'postgres'), database];
  execFileSync(join(folder, 'bin', 'postgres'), args, {
    ...asAccount(account),
    cwd: '/',
    input: `${input}\n`,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

/**
 * A cluster whose one role is the service and the superuser.
 *
 * @param {import('./account.mjs').Account | null} account
 * @param {string} home
 */
function earlierCluster(account, home) {
  const cluster = join(home, 'postgres');
  const passwordFile = join(home, 'password');
  mkdirSync(cluster, { mode: 0o700 });
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  if (account) chownSync(cluster, account.uid, account.gid);
  const { folder } = reachableServer(account);
  execFileSync(
    join(folder, 'bin', 'initdb'),
    [
      '--pgdata',
      cluster,
      '--username',
      'controller',
      '--pwfile',
      passwordFile,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--no-sync',
    ],
    { ...asAccount(account), cwd: '/', stdio: 'ignore' },
  );
  standAlone(account, home, 'CREATE DATABASE controller', 'template1');
  for (const statement of [
    'CREATE EXTENSION pg_trgm',
    "CREATE TYPE kind AS ENUM ('one')",
    "CREATE TABLE kept (id serial PRIMARY KEY, kind kind NOT NULL DEFAULT 'one')",
    'CREATE VIEW seen AS SELECT id FROM kept',
    'CREATE FUNCTION one() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
    'INSERT INTO kept DEFAULT VALUES',
  ]) {
    standAlone(account, home, statement);
  }
  writeFileSync(
    join(home, 'postgres.json'),
    JSON.stringify({ password: PASSWORD, port: null, home }),
  );
}
