import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, Problem } from '../console/problem.mjs';
import { note, step } from '../console/progress.mjs';
import { run } from '../processes/run.mjs';
import { BUILD_STAMP } from '../services/packages.mjs';
import { readJson, readText, writePrivate } from '../services/private-file.mjs';
import { displayPath } from './data-folder.mjs';
import { readablePassword } from './settings.mjs';

const COMMAND_LIMIT_MS = 10 * 60_000;

/**
 * @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   environment: NodeJS.ProcessEnv,
 *   unprivileged?: import('./unprivileged.mjs').Unprivileged | null }} Context
 * @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   cli: (args: readonly string[], extra?: NodeJS.ProcessEnv) => ReturnType<typeof run> }} Steps
 * @typedef {{ newPassword?: string }} Admin
 */

/**
 * Migrates, and creates the first admin, a token and the demo objects. Each step is idempotent. All are
 * skipped if neither the build nor the tables have changed since the last time, which makes a warm start
 * fast. Resolves to the password if it was just created.
 *
 * @param {Context & { withToken?: boolean }} context
 * @returns {Promise<Admin>}
 */
export async function setUpDatabase({ withToken = true, ...context }) {
  const { settings, files, environment } = context;
  const build = readText(join(settings.root, BUILD_STAMP));
  const previous = readJson(files.setUp) ?? {};
  const before = await tableFingerprint(environment.DATABASE_URL);
  const sameTables = previous.tables === before;
  const isCurrent = sameTables && previous.build === build;
  /** @type {Steps['cli']} */
  const cli = (args, extra) => runCli({ ...context, args, extra });

  const owner = settings.migrationDatabaseUrl;
  const forMigrations = owner ? { MIGRATION_DATABASE_URL: owner } : {};
  if (!isCurrent)
    await step('Migrations', () => cli(['migrate'], forMigrations).then(() => undefined));
  const admin = sameTables && previous.admin ? {} : await ensureAdmin({ settings, files, cli });
  if (withToken && !(sameTables && existsSync(files.adminToken))) {
    await step('Token of the admin', () => createToken({ settings, files, cli }));
  }
  const tables = isCurrent ? before : await tableFingerprint(environment.DATABASE_URL);
  const state = { build, tables, admin: true, demo: previous.demo === true && sameTables };
  const save = () => writePrivate(files.setUp, JSON.stringify(state));
  save();
  if (settings.demoData && !state.demo) {
    state.demo = await createDemoObjects({ files, cli });
    save();
  }
  return admin;
}

/**
 * @param {Steps} steps
 * @returns {Promise<Admin>}
 */
async function ensureAdmin({ settings, files, cli }) {
  const stored = readText(files.adminPassword);
  const password = settings.adminPassword ?? stored ?? readablePassword();
  // Stored before it is used: an unknown password would lock every user out.
  if (!settings.adminPassword && !stored) writePrivate(files.adminPassword, `${password}\n`);
  await step('First admin', async () => {
    await cli(['ensure-admin'], {
      ADMIN_USERNAME: settings.adminUsername,
      ADMIN_PASSWORD: password,
    });
    return settings.adminUsername;
  });
  return settings.adminPassword || stored ? {} : { newPassword: password };
}

/** @param {Steps} steps */
async function createToken({ settings, files, cli }) {
  try {
    const { stdout } = await cli(['create-token', '--username', settings.adminUsername]);
    const token = stdout.trim().split(/\s+/).at(-1);
    writePrivate(files.adminToken, `${token}\n`);
  } catch (error) {
    // An external database may have its own admins with other names.
    const details = error instanceof Problem ? error.details : [];
    note(`no token created: ${details.at(-1) ?? messageOf(error)}`);
  }
}

// A failure does not prevent the start of the service. The next start tries again.
/** @param {Omit<Steps, 'settings'>} steps */
async function createDemoObjects({ files, cli }) {
  try {
    await step('Demo objects', () => cli(['demo-data']).then(() => undefined));
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    note(`no demo objects: see ${displayPath(files.log('set-up'))}`);
    return false;
  }
}

/** @param {Context & { args: readonly string[], extra: NodeJS.ProcessEnv | undefined }} call */
function runCli({ settings, files, environment, unprivileged, args, extra }) {
  const cli = join(settings.root, 'dist', 'cli.js');
  const command = { file: process.execPath, args: [cli, ...args] };
  const started = unprivileged?.command(command) ?? command;
  return run(started.file, started.args, {
    cwd: settings.root,
    env: { ...environment, ...extra },
    // This command prints a secret, which must not be logged.
    log: args[0] === 'create-token' ? undefined : files.log('set-up'),
    name: args[0],
    timeoutMs: COMMAND_LIMIT_MS,
  });
}

/**
 * Returns a text that changes whenever a table is created, altered by a migration of another copy, or the
 * database is dropped and created anew: the names and object ids of all tables and the database itself.
 *
 * @param {string | undefined} url
 * @returns {Promise<string>}
 */
async function tableFingerprint(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(`
      SELECT md5(concat(
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        (SELECT string_agg(concat(cls.oid, ':', cls.relname), ',' ORDER BY cls.oid)
           FROM pg_class cls
          WHERE cls.relkind IN ('r', 'p') AND cls.relnamespace = to_regnamespace('public'))
      )) AS fingerprint`);
    return rows[0].fingerprint;
  } finally {
    await client.end();
  }
}
