import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import pg from 'pg';
import { Settings } from '../config/settings.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';
import { dataSourceOptions } from '../database/data-source.js';
import { Database } from '../database/database.js';
import { entities } from '../entities.js';

/** Key of the advisory lock under which one process migrates while others wait. */
const MIGRATION_LOCK = 7_300;

/** Opens the data source of the environment, without the limits of an API request. */
export async function openDataSource(
  options: Partial<ReturnType<typeof dataSourceOptions>> = {},
): Promise<DataSource> {
  const settings = Settings.load(process.env);
  const base = dataSourceOptions({ ...settings, STATEMENT_TIMEOUT_MS: 0 }, entities());
  return new DataSource({ ...base, ...options } as typeof base).initialize();
}

/** Does `work` with the database of the environment, without the limits of an API request. */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const source = await openDataSource({ poolSize: 2 });
  try {
    return await work(new Database(source));
  } finally {
    await source.destroy();
  }
}

/** Runs pending migrations; safe to start from several places at once. */
export async function migrate(): Promise<void> {
  const { DATABASE_URL } = Settings.load(process.env);
  const client: Client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const source = await openDataSource();
    try {
      const done = await source.runMigrations();
      const names = done.map(({ name }) => name).join(', ');
      await new CredentialTypesRepository(new Database(source)).syncManaged();
      process.stdout.write(done.length > 0 ? `applied ${names}\n` : 'up to date\n');
    } finally {
      await source.destroy();
    }
  } finally {
    await client.end();
  }
}
