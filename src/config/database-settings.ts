import { integer, milliseconds, secretSetting } from './setting.js';

/** Connection to PostgreSQL, and its timeouts. */
export const DATABASE_SETTINGS = {
  DATABASE_URL: secretSetting({
    category: 'system',
    default: '',
    help: 'PostgreSQL connection URL.',
  }),
  MIGRATION_DATABASE_URL: secretSetting({
    category: 'system',
    default: '',
    help: 'The same database as DATABASE_URL, for a role that owns the tables; that of DATABASE_URL then only reads and writes rows. Read by migrations alone.',
  }),
  DATABASE_POOL_SIZE: integer({
    category: 'system',
    default: 20,
    min: 2,
    max: 500,
    help: 'Connections a worker may hold open, or all processes of the API on one machine together.',
  }),
  STATEMENT_TIMEOUT_MS: milliseconds({
    category: 'system',
    default: 15_000,
    min: 100,
    help: 'Longest time one database statement may take, in milliseconds.',
  }),
  LIST_TIMEOUT_MS: milliseconds({
    category: 'system',
    default: 2000,
    min: 100,
    help: 'Longest time a statement may take, in milliseconds, for a list that is searched, or filtered or ordered by texts and related objects.',
  }),
} as const;
