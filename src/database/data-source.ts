import pg from 'pg';
import {
  DataSource,
  getMetadataArgsStorage,
  type DataSourceOptions,
  type EntityManager,
} from 'typeorm';
import type { Settings } from '../config/settings.js';
import { Database } from './database.js';
import { instantText } from './instants.js';
import { TIMEOUT_REPORT_MS } from './open-transaction.js';
import { NamingStrategy } from './table.js';
import { migrations } from '../../migrations/index.js';

const TIMESTAMPTZ = 1184;
const BIGINT = 20;
/** Array of `bigint`; the driver has no name for this type. */
const BIGINT_ARRAY: number = 1016;

/**
 * Parses instants to text with microseconds, in the format of the API: a Date has milliseconds only.
 * Sessions run in UTC, so the offset is always `+00`.
 */
pg.types.setTypeParser(TIMESTAMPTZ, instantText);
/**
 * Options of every connection. Statements are short and concurrent, so JIT compilation and parallel
 * workers cost more than they save; PostgreSQL would still choose them when it overestimates rows. Without
 * keepalives, it notices the loss of a machine after two hours, and keeps the locks of its workers so long.
 * Without the check, it notices the end of a process only after the statement, which takes minutes for a deletion.
 */
const SESSION = [
  'TimeZone=UTC',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'tcp_keepalives_idle=30',
  'tcp_keepalives_interval=10',
  'tcp_keepalives_count=3',
  'client_connection_check_interval=2s',
];

/** Parses bigints to numbers: ids and counters are far below 2^53. */
pg.types.setTypeParser(BIGINT, Number);
pg.types.setTypeParser(BIGINT_ARRAY, (text) =>
  text === '{}'
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((item) => (item === 'NULL' ? null : Number(item))),
);

const CONNECT_TIMEOUT_MS = 5000;
const IDLE_IN_TRANSACTION_MS = 30_000;
const LOCK_TIMEOUT_MS = 5000;

export type ConnectionSettings = Pick<
  Settings,
  'DATABASE_URL' | 'DATABASE_POOL_SIZE' | 'STATEMENT_TIMEOUT_MS'
>;

/** Returns the options of the data source, for the application, the CLI and the tests. */
export function dataSourceOptions(
  settings: ConnectionSettings,
): Extract<DataSourceOptions, { type: 'postgres' }> {
  return {
    type: 'postgres',
    // TypeORM would load the driver by its package name, and a bundle contains no packages.
    driver: pg,
    url: settings.DATABASE_URL,
    // Every class with @Entity: the modules of the features have imported them.
    entities: getMetadataArgsStorage().tables.map(({ target }) => target),
    migrations: Object.values(migrations),
    migrationsTransactionMode: 'each',
    namingStrategy: new NamingStrategy(),
    synchronize: false,
    poolSize: settings.DATABASE_POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'automation-controller',
    extra: {
      pipeline: true,
      statement_timeout: settings.STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...driverTimeout(settings),
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
    },
  };
}

/**
 * Returns the timeout of the driver, which closes the connection if PostgreSQL hangs and does not apply its
 * own timeout. There is no timeout if the statement timeout is 0.
 */
const driverTimeout = ({ STATEMENT_TIMEOUT_MS: max }: ConnectionSettings): object =>
  max > 0 ? { query_timeout: max + TIMEOUT_REPORT_MS, keepAlive: true } : {};

/** Data source whose repositories join the open transaction of the caller. */
export class AmbientDataSource extends DataSource {
  readonly database: Database = new Database(this);
  override readonly manager: EntityManager = this.database.manager;
}
