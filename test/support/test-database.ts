import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import { DataSource } from 'typeorm';

import { CredentialTypesRepository } from '../../src/credentials/credential-types.repository.js';
import { MANAGED_CREDENTIAL_TYPES } from '../../src/credentials/types/managed-types.js';
import { dataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import '../../src/features.module.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { CredentialType } from '../../src/credentials/credential-type.entity.js';

/** Database for one spec file. */
export interface TestDatabase {
  url: string;
  /** Ends all connections and removes the database. */
  drop(): Promise<void>;
  /** Renames the database, which must have no connections, and returns the new name. */
  becomeTemplate(): Promise<string>;
  /** Replaces the database by a copy of a template, under the same URL. */
  recreateFrom(template: string): Promise<void>;
}

/** Key of the lock under which one process creates the template while others wait. */
const TEMPLATE_LOCK = 7_399;

/** First id of `bigint` columns, above 2^31. */
const FIRST_WIDE_ID = 5_000_000_000;

let created = 0;

/**
 * Creates a migrated database without rows, as a copy of a template that is migrated once.
 *
 * @param server URL of any database on the server; the server of the test run by default
 * @param template name of another template to copy
 */
export async function createTestDatabase(
  server = environmentUrl('DATABASE_URL'),
  template?: string,
): Promise<TestDatabase> {
  return createDatabase(server, copyOf(template ?? (await migratedTemplate(server))));
}

/** Copies files, which takes half the time of the default strategy, because blocks are not logged. */
const copyOf = (template: string): string => `TEMPLATE ${template} STRATEGY file_copy`;

/** Creates a database without tables. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase(environmentUrl('DATABASE_URL'), 'TEMPLATE template0');
}

async function createDatabase(server: string, options: string): Promise<TestDatabase> {
  created += 1;
  const name = `test_${process.env.JEST_WORKER_ID ?? 1}_${process.pid}_${Date.now() % 1e8}_${created}`;
  const create = `CREATE DATABASE ${name}`;
  const drop = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`;
  await administer(server, (client) => client.query(`${create} ${options}`));
  return {
    url: urlOf(server, name),
    drop: () => administer(server, (client) => client.query(drop)),
    becomeTemplate: async () => {
      const template = `template_of_${name}`;
      await administer(server, (client) =>
        client.query(`ALTER DATABASE ${name} RENAME TO ${template}`),
      );
      return template;
    },
    recreateFrom: (template) =>
      administer(server, async (client) => {
        await client.query(drop);
        await client.query(`${create} ${copyOf(template)}`);
      }),
  };
}

async function migratedTemplate(server: string): Promise<string> {
  const name = `template_${migrationsDigest()}`;
  await administer(server, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await createTemplate(server, client, name);
  });
  return name;
}

/** Creates a template, and renames it at the end: an incomplete template of a killed run is never used. */
async function createTemplate(server: string, client: pg.Client, name: string): Promise<void> {
  const draft = `${name}_draft`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  await migrate(urlOf(server, draft));
  await administer(urlOf(server, draft), startBeyondIntegers);
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
}

/**
 * Starts `bigint` ids above the range of `integer`, so that every test finds code that treats them as
 * `integer`. Skips ids that an `integer` column refers to (docs/decisions/0119-bigint-ids.md).
 */
async function startBeyondIntegers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT seqrelid::regclass::text AS name FROM pg_sequence
     JOIN pg_depend ON pg_depend.objid = seqrelid AND refobjsubid > 0
     WHERE seqtypid = 'bigint'::regtype AND NOT EXISTS (
       SELECT 1 FROM pg_constraint JOIN pg_attribute near
         ON near.attrelid = conrelid AND near.attnum = conkey[1]
       WHERE contype = 'f' AND confrelid = refobjid AND near.atttypid = 'integer'::regtype)`,
  );
  for (const { name } of rows)
    await client.query(`ALTER SEQUENCE ${name} RESTART ${FIRST_WIDE_ID}`);
}

/** Migrates a database to the current schema. */
export async function migrate(url: string): Promise<void> {
  const source = await openDataSource(url);
  try {
    await source.runMigrations();
    await new CredentialTypesRepository(
      new Database(source).manager.getRepository(CredentialType),
    ).syncManaged();
  } finally {
    await source.destroy();
  }
}

/** Returns a data source of the product for a database, without the limits of an API request. */
export function openDataSource(url: string): Promise<DataSource> {
  const settings = { DATABASE_URL: url, DATABASE_POOL_SIZE: 2, STATEMENT_TIMEOUT_MS: 0 };
  return new DataSource(dataSourceOptions(settings)).initialize();
}

/** Returns a digest of the content of the template, for its name. */
function migrationsDigest(): string {
  const folder = join(PACKAGE_FOLDER, 'migrations');
  const digest = createHash('sha256').update(JSON.stringify(MANAGED_CREDENTIAL_TYPES));
  for (const file of readdirSync(folder).sort()) digest.update(readFileSync(join(folder, file)));
  return digest.digest('hex').slice(0, 12);
}

async function administer(
  server: string,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function environmentUrl(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must be set, as npm test does.`);
  return value;
}
