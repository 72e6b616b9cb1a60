import { types } from 'pg';
import type { DataSourceOptions, EntitySchema } from 'typeorm';
import type { Settings } from '../config/settings.js';
import { migrations } from '../../migrations/index.js';

const TIMESTAMPTZ = 1184;
const BIGINT = 20;

/**
 * Instants stay text with microseconds, in the form the API shows: a Date would cut them to
 * milliseconds. Sessions run in UTC, so the offset is always `+00`.
 */
types.setTypeParser(TIMESTAMPTZ, (text) => `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
/** Our bigints are counters far below 2^53. */
types.setTypeParser(BIGINT, Number);

const CONNECT_TIMEOUT_MS = 5000;
const IDLE_IN_TRANSACTION_MS = 30_000;
const LOCK_TIMEOUT_MS = 5000;

export type ConnectionSettings = Pick<
  Settings,
  'DATABASE_URL' | 'DATABASE_POOL_SIZE' | 'STATEMENT_TIMEOUT_MS'
>;

/** Options of the one data source, for the application, the CLI and the tests. */
export function dataSourceOptions(
  settings: ConnectionSettings,
  entities: EntitySchema[],
): DataSourceOptions {
  return {
    type: 'postgres',
    url: settings.DATABASE_URL,
    entities,
    migrations: Object.values(migrations),
    migrationsTransactionMode: 'each',
    synchronize: false,
    poolSize: settings.DATABASE_POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'automation-controller',
    extra: {
      statement_timeout: settings.STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      options: '-c TimeZone=UTC',
    },
  };
}
