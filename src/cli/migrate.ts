import { DataSource } from 'typeorm';
import pg, { type Client } from 'pg';
import { itemAt } from '../common/invariants.js';
import { Settings } from '../config/settings.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';
import { dataSourceOptions } from '../database/data-source.js';
import { Database } from '../database/database.js';
import '../features.module.js';
import { CredentialType } from '../credentials/credential-type.entity.js';

/** Key of the advisory lock that serializes migrations. */
const MIGRATION_LOCK = 7_300;

/**
 * Opens the data source of the environment, without the timeouts of API requests.
 *
 * @param options URL and pool size that replace those of the environment
 */
export function openDataSource(
  options: { url?: string; poolSize?: number } = {},
): Promise<DataSource> {
  const settings = Settings.load(process.env);
  const { url = settings.DATABASE_URL, poolSize = settings.DATABASE_POOL_SIZE } = options;
  const connection = { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize, STATEMENT_TIMEOUT_MS: 0 };
  return new DataSource(dataSourceOptions(connection)).initialize();
}

/** Runs `work` with the database of the environment, without the timeouts of API requests. */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const source = await openDataSource({ poolSize: 2 });
  try {
    return await work(new Database(source));
  } finally {
    await source.destroy();
  }
}

/**
 * Runs pending migrations, with the role of MIGRATION_DATABASE_URL if it is set. Concurrent runs are
 * safe.
 */
export async function migrate(): Promise<void> {
  const { DATABASE_URL, MIGRATION_DATABASE_URL } = Settings.load(process.env);
  const url = MIGRATION_DATABASE_URL || DATABASE_URL;
  const client: Client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const source = await openDataSource({ url });
    try {
      await assertNotNewer(source);
      const done = await source.runMigrations();
      const names = done.map(({ name }) => name).join(', ');
      await new CredentialTypesRepository(
        new Database(source).manager.getRepository(CredentialType),
      ).syncManaged();
      if (url !== DATABASE_URL) await grantTables(client, await roleOf(DATABASE_URL));
      process.stdout.write(done.length > 0 ? `applied ${names}\n` : 'up to date\n');
    } finally {
      await source.destroy();
    }
  } finally {
    await client.end();
  }
}

/** @throws Error if a newer version has changed the schema */
async function assertNotNewer(source: DataSource): Promise<void> {
  const [found] = await source.query<{ exists: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
  );
  if (found?.exists !== true) return;
  const [newer] = await source.query<{ name: string }[]>(
    `SELECT name FROM migrations WHERE name <> ALL($1) ORDER BY id DESC LIMIT 1`,
    [source.migrations.map(({ name }) => name)],
  );
  if (!newer) return;
  throw new Error(
    `The database has the schema of a newer version (migration ${newer.name}). ` +
      'Start that version, or restore a backup of this version.',
  );
}

/** Returns the database role that a URL logs in as. */
async function roleOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<[string]>({
      text: 'SELECT current_user',
      rowMode: 'array',
    });
    return itemAt(itemAt(rows, 0), 0);
  } finally {
    await client.end();
  }
}

/**
 * Grants the service's role access to the rows of all tables and to the functions for partitions of
 * events.
 */
async function grantTables(client: Client, role: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  await client.query(`
    GRANT USAGE ON SCHEMA public TO ${name};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${name};
    GRANT EXECUTE ON FUNCTION job_event_ranges, extend_job_events, drop_old_job_events,
      analyze_job_events TO ${name}`);
}
