import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import pg from 'pg';

const run = promisify(execFile);

/**
 * Creates a migrated database with an administrator, for a suite.
 *
 * @param {Pick<import('./types.d.mts').SuiteInput, 'root' | 'environment'> &
 *   { name: string, settings?: NodeJS.ProcessEnv }} options `name` is the name of the database;
 *   `settings` override settings of the product
 * @returns {Promise<import('./types.d.mts').World>}
 */
export async function createWorld({ root, environment, name, settings = {} }) {
  const env = {
    SECRET_KEY: 'benchmark-secret-key-benchmark',
    ...environment,
    DATA_DIR: environment.DATA_DIR ?? join(root, 'var'),
    ADMIN_PASSWORD: 'benchmark',
    QUEUE_PREFIX: name,
    ...settings,
    DATABASE_URL: await createDatabase(environment.DATABASE_URL ?? '', name),
  };
  mkdirSync(env.DATA_DIR, { recursive: true });
  /** @param {string[]} args */
  const cli = async (...args) => {
    const options = { env: { ...process.env, ...env } };
    return (await run(process.execPath, [join(root, 'dist/cli.js'), ...args], options)).stdout;
  };
  await cli('migrate');
  await cli('ensure-admin');
  const admin = (await cli('create-token', '--username', 'admin')).trim();
  return { root, environment: env, cli, admin };
}

/**
 * Returns a function that calls the API. Throws an Error with the response unless it is successful.
 *
 * @param {string} url
 * @param {string} token
 * @returns {import('./types.d.mts').Call}
 */
export function caller(url, token) {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

/**
 * Calls `work(client)` with a separate connection.
 *
 * @template Result
 * @param {string} url
 * @param {(client: pg.Client) => Promise<Result>} work
 */
export async function withDatabase(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Drops and creates a database. The database to copy must have no connections.
 *
 * @param {string} url of any database of the server
 * @param {string} name
 * @param {string} [original] name of the database to copy
 * @returns {Promise<string>} URL of the new database
 */
export async function createDatabase(url, name, original) {
  await withDatabase(url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(
      `CREATE DATABASE ${name}${original === undefined ? '' : ` TEMPLATE ${original}`}`,
    );
  });
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}
