import { join } from 'node:path';

import { run } from '../processes/run.mjs';
import { asAccount } from './account.mjs';

/** Role of the service, and the database it owns. */
export const ROLE = 'controller';
export const DATABASE = 'controller';

/** Superuser role of initdb. Login as this role is disabled. */
export const ADMINISTRATOR = 'postgres';

const LIMIT_MS = 60_000;

/**
 * @typedef {{ account: import('./account.mjs').Account | null, server: { folder: string },
 *   logFile: string, durable: boolean, environment: NodeJS.ProcessEnv }} Context
 */

/**
 * Creates the service's database and its ordinary role on a cluster without a running server. Converts an earlier
 * cluster, in which the service was the superuser. Can be repeated.
 *
 * @param {Context} context
 * @param {string} cluster
 * @param {string} password of the role
 */
export async function provideRole(context, cluster, password) {
  const statement = roleStatement(password, context.durable);
  const first = await runSingleUser(context, cluster, DATABASE, statement, true);
  if (first.code === 0) return;
  if (first.output.includes(`database "${DATABASE}" does not exist`)) {
    await runSingleUser(context, cluster, 'template1', `CREATE DATABASE ${DATABASE}`);
  }
  await runSingleUser(context, cluster, DATABASE, statement);
}

/**
 * Executes one statement with the server in single-user mode, as the superuser.
 *
 * @param {Context} context
 * @param {string} cluster
 * @param {string} database
 * @param {string} statement
 * @param {boolean} [anyCode]
 */
function runSingleUser(
  { account, server, logFile, durable, environment },
  cluster,
  database,
  statement,
  anyCode = false,
) {
  const settings = [
    'exit_on_error=on',
    // The statement contains a password.
    'log_min_error_statement=panic',
    ...(durable ? [] : ['fsync=off']),
  ];
  const args = ['--single', ...settings.flatMap((value) => ['-c', value]), '-D', cluster, database];
  return run(join(server.folder, 'bin', 'postgres'), args, {
    cwd: cluster,
    env: environment,
    input: `${statement.replace(/\s+/g, ' ').trim()}\n`,
    log: logFile,
    name: "the set-up of the database's role",
    timeoutMs: LIMIT_MS,
    anyCode,
    ...asAccount(account),
  });
}

/**
 * Returns the statement for the role. The superuser of a cluster cannot become an ordinary role, so the role of
 * an earlier cluster is renamed and a new role takes over its objects. A session cannot rename its own role.
 *
 * @param {string} password
 * @param {boolean} durable
 */
function roleStatement(password, durable) {
  // Tests create a database for every file.
  const databases = durable ? 'NOCREATEDB' : 'CREATEDB';
  return `
    DO $$
    DECLARE
      administrator name := (SELECT rolname FROM pg_roles WHERE oid = 10);
      change text;
    BEGIN
      IF administrator = '${ROLE}' THEN
        administrator := '${ADMINISTRATOR}';
        CREATE ROLE renaming SUPERUSER;
        SET LOCAL SESSION AUTHORIZATION renaming;
        ALTER ROLE ${ROLE} RENAME TO ${ADMINISTRATOR};
        SET LOCAL SESSION AUTHORIZATION ${ADMINISTRATOR};
        DROP ROLE renaming;
      END IF;
      EXECUTE format('ALTER ROLE %I NOLOGIN PASSWORD NULL', administrator);
      IF to_regrole('${ROLE}') IS NULL THEN
        CREATE ROLE ${ROLE};
      END IF;
      ALTER ROLE ${ROLE} LOGIN NOSUPERUSER ${databases} NOCREATEROLE NOREPLICATION NOBYPASSRLS
        PASSWORD '${password}';
      ALTER DATABASE ${DATABASE} OWNER TO ${ROLE};
      FOR change IN ${OWNERSHIP} LOOP
        EXECUTE change;
      END LOOP;
    END $$`;
}

/** Objects of the schema that the superuser owns, except those of an extension or of another object. */
const OWNERSHIP = `
  SELECT format('ALTER %s %s OWNER TO ${ROLE}', kind, name)
  FROM (
    SELECT 'pg_class'::regclass, oid, 'TABLE', oid::regclass::text FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relowner = 10
        AND relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT 'pg_proc'::regclass, oid, 'ROUTINE', oid::regprocedure::text FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND proowner = 10
    UNION ALL
    SELECT 'pg_type'::regclass, oid, 'TYPE', oid::regtype::text FROM pg_type
      WHERE typnamespace = 'public'::regnamespace AND typowner = 10 AND typtype IN ('e', 'd')
  ) AS owned (catalog, id, kind, name)
  WHERE NOT EXISTS (
    SELECT FROM pg_depend WHERE classid = catalog AND objid = id AND deptype IN ('a', 'e', 'i')
      AND refclassid <> 'pg_namespace'::regclass)`;
