/** The migrations produce the declared schema, and each can be reverted. */
import { DataSource } from 'typeorm';

import { migrations } from '../../migrations/index.js';
import { CredentialTypesRepository } from '../../src/credentials/credential-types.repository.js';
import { Database } from '../../src/database/database.js';
import {
  createEmptyDatabase,
  openDataSource,
  type TestDatabase,
} from '../support/test-database.js';
import { CredentialType } from '../../src/credentials/credential-type.entity.js';

let database: TestDatabase;
let source: DataSource;
let applied: unknown[];
beforeAll(async () => {
  database = await createEmptyDatabase();
  source = await openDataSource(database.url);
  applied = await source.runMigrations();
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const tables = async (): Promise<string[]> => {
  const rows = (await source.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )) as { tablename: string }[];
  return rows.map(({ tablename }) => tablename);
};

/** Returns everything in the schema that a dump would contain, as one comparable value. */
const schema = async (): Promise<unknown> => {
  const parts = [
    `SELECT table_name, column_name, data_type, column_default, is_nullable
       FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
    `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
    `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
    `SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger
       WHERE NOT tgisinternal ORDER BY 1, 2`,
    `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
  ];
  const found = [];
  for (const part of parts) found.push(await source.query(part));
  return found;
};

const drift = async (): Promise<string[]> => {
  const log = await source.driver.createSchemaBuilder().log();
  return log.upQueries.map(({ query }) => query);
};

it('the migrations create a schema without undeclared objects', async () => {
  expect(applied).toHaveLength(Object.keys(migrations).length);
  expect(await drift()).toEqual([]);
  expect(await source.runMigrations()).toEqual([]);
});

it('the migrations use the type of the referenced id for each reference', async () => {
  const differing = await source.query(`
    SELECT conname FROM pg_constraint
    JOIN pg_attribute near ON near.attrelid = conrelid AND near.attnum = conkey[1]
    JOIN pg_attribute far ON far.attrelid = confrelid AND far.attnum = confkey[1]
    WHERE contype = 'f' AND near.atttypid <> far.atttypid`);
  expect(differing).toEqual([]);
  const narrow = await source.query(`
    SELECT attrelid::regclass::text AS table, attname FROM pg_attribute
    JOIN pg_sequence ON seqrelid = pg_get_serial_sequence(attrelid::regclass::text, attname)::regclass
    WHERE attnum > 0 AND attidentity <> '' AND atttypid <> seqtypid`);
  expect(narrow).toEqual([]);
});

it('the migrations can be reverted completely and applied again with the same result', async () => {
  const before = await schema();
  for (let left = Object.keys(migrations).length; left > 0; left--)
    await source.undoLastMigration();
  expect(await tables()).toEqual(['migrations']);
  const left = (await source.query(
    `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  )) as unknown[];
  expect(left).toEqual([]);
  await source.runMigrations();
  expect(await schema()).toEqual(before);
  expect(await drift()).toEqual([]);
});

it('the migrations create an index for every reference, by which a deletion finds referring rows', async () => {
  const unindexed = (await source.query(`
    SELECT key.conrelid::regclass || '.' || attribute.attname AS reference
    FROM pg_constraint key
    JOIN pg_attribute attribute
      ON attribute.attrelid = key.conrelid AND attribute.attnum = key.conkey[1]
    WHERE key.contype = 'f' AND NOT EXISTS (
      SELECT 1 FROM pg_index index
      WHERE index.indrelid = key.conrelid AND index.indkey[0] = key.conkey[1]
        AND (index.indpred IS NULL
          OR pg_get_expr(index.indpred, index.indrelid) = format('(%I IS NOT NULL)', attribute.attname)))
    ORDER BY 1`)) as { reference: string }[];
  expect(unindexed).toEqual([]);
});

it('the migrations run once if several processes start at the same time', () =>
  withOtherDatabase((migrate) => Promise.all([migrate(), migrate(), migrate()])));

it('the migrations refuse the schema of a newer version', () =>
  withOtherDatabase(async (migrate, other) => {
    await migrate();
    const client = await openDataSource(other.url);
    await client.query(
      `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`,
    );
    await client.destroy();
    await expect(migrate()).rejects.toThrow(
      'The database has the schema of a newer version (migration Later9999999999999).',
    );
  }));

it('the migrations create the managed credential types as a later sync would', async () => {
  const types = new CredentialTypesRepository(
    new Database(source).manager.getRepository(CredentialType),
  );
  const sync = (): Promise<void> => types.syncManaged();
  const read = (): Promise<unknown> =>
    source.query(`SELECT id, name, kind, namespace, modified FROM credential_types ORDER BY id`);
  await sync();
  const before = await read();
  await sync();
  expect(await read()).toEqual(before);
});

/** Calls `work` with the command for an empty database, whose output is suppressed. */
async function withOtherDatabase(
  work: (migrate: () => Promise<void>, other: TestDatabase) => Promise<unknown>,
): Promise<void> {
  const other = await createEmptyDatabase();
  const { migrate } = await import('../../src/cli/migrate.js');
  const present = process.env.DATABASE_URL;
  Object.assign(process.env, { DATABASE_URL: other.url, SECRET_KEY: 'a key for tests' });
  const output = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await work(migrate, other);
  } finally {
    output.mockRestore();
    process.env.DATABASE_URL = present;
    await other.drop();
  }
}
