import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

import { FIRST_ID } from './nonce.mjs';

const run = promisify(execFile);

/**
 * A migrated database of its own with an administrator: every suite measures in one.
 *
 * @param name of the database
 * @param settings of the processes, over those of the product
 */
export async function makeWorld({ root, environment, name, settings = {} }) {
  const env = {
    ...environment,
    ADMIN_PASSWORD: 'benchmark',
    QUEUE_PREFIX: name,
    ...settings,
    DATABASE_URL: await createDatabase(environment.DATABASE_URL, name),
  };
  env.SECRET_KEY ??= 'benchmark-secret-key-benchmark';
  env.DATA_DIR ??= join(root, 'var');
  mkdirSync(env.DATA_DIR, { recursive: true });
  const cli = async (...args) => {
    const options = { env: { ...process.env, ...env } };
    return (await run(process.execPath, [join(root, 'dist/src/cli.js'), ...args], options)).stdout;
  };
  await cli('migrate');
  await cli('ensure-admin');
  const admin = (await cli('create-token', '--username', 'admin')).trim();
  return { root, environment: env, cli, admin };
}

/** Calls the API; @throws Error with the answer unless it is a success. */
export function caller(url, token) {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

/** Runs `work(client)` on a connection of its own. */
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
 * Lets every table number its rows in a range of its own from now on, so that a recorded id is told
 * from any other number.
 */
export function spreadIds({ environment }) {
  return withDatabase(environment.DATABASE_URL, (client) =>
    client.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass,
         $1::bigint * (row_number() OVER (ORDER BY sequencename)))
       FROM pg_sequences`,
      [FIRST_ID],
    ),
  );
}

async function createDatabase(url, name) {
  await withDatabase(url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  });
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}
