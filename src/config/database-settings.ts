import { system } from './setting.js';

/** Connection to PostgreSQL, and its timeouts. */
export const DATABASE_SETTINGS = {
  DATABASE_URL: system.secret({
    default: '',
    help: 'PostgreSQL connection URL.',
  }),
  MIGRATION_DATABASE_URL: system.secret({
    default: '',
    help: 'Connection URL of the same database with the role that owns the tables, used by migrations only. The role of DATABASE_URL then needs to read and write rows only.',
  }),
  DATABASE_POOL_SIZE: system.integer({
    default: 20,
    min: 2,
    max: 500,
    help: 'Maximum number of database connections of a worker, or of all API processes of one machine. A worker opens another for each project sync.',
  }),
  STATEMENT_TIMEOUT_MS: system.milliseconds({
    default: 15_000,
    min: 100,
    help: 'Timeout of one database statement, in milliseconds; of deletions, at least five minutes.',
  }),
  LIST_TIMEOUT_MS: system.milliseconds({
    default: 2000,
    min: 100,
    help: 'Timeout in milliseconds of a statement for a list that is searched, or that is filtered or ordered by texts or related objects.',
  }),
} as const;
