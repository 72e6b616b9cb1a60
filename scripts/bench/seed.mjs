import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

import { startServer } from './servers.mjs';

const run = promisify(execFile);

/** A database of its own with an ordinary user who may read an inventory of `rows` hosts. */
export async function prepare({ root, environment, rows }) {
  const env = { ...environment, DATABASE_URL: await createDatabase(environment.DATABASE_URL) };
  env.SECRET_KEY ??= 'benchmark-secret-key-benchmark';
  env.ADMIN_PASSWORD = 'benchmark';
  env.DATA_DIR ??= join(root, 'var');
  mkdirSync(env.DATA_DIR, { recursive: true });
  const cli = async (...args) => {
    const options = { env: { ...process.env, ...env } };
    return (await run(process.execPath, [join(root, 'dist/src/cli.js'), ...args], options)).stdout;
  };
  await cli('migrate');
  await cli('ensure-admin');
  const admin = (await cli('create-token', '--username', 'admin')).trim();
  const server = await startServer(join(root, 'dist/src/main.js'), env);
  const inventory = await makeObjects(server.url, admin);
  await server.stop();
  await makeHosts(env.DATABASE_URL, inventory, rows);
  const token = (await cli('create-token', '--username', 'reader')).trim();
  return { environment: env, token };
}

async function createDatabase(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE DATABASE bench');
  await client.end();
  const target = new URL(url);
  target.pathname = '/bench';
  return target.href;
}

async function makeObjects(url, token) {
  const post = async (path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const organization = await post('/api/v2/organizations/', { name: 'Bench' });
  const inventory = await post('/api/v2/inventories/', {
    name: 'Big',
    organization: organization.id,
  });
  const reader = await post('/api/v2/users/', { username: 'reader', password: 'reader' });
  const role = inventory.summary_fields.object_roles.read_role.id;
  await post(`/api/v2/roles/${role}/users/`, { id: reader.id });
  return inventory.id;
}

async function makeHosts(url, inventory, rows) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO hosts (name, inventory_id, variables)
     SELECT 'host-' || lpad(number::text, 7, '0'), $1, 'rack: ' || number % 40
     FROM generate_series(1, $2) AS number`,
    [inventory, rows],
  );
  await client.query('VACUUM ANALYZE');
  await client.end();
}
