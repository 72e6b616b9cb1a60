import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { canRun, canUse } from '../services/account.mjs';
import { readText } from '../services/private-file.mjs';
import { secretKeyFile } from './data-folder.mjs';

// Loopback targets and local repositories: what a first try on one machine uses. A service that
// is given its own database is no first try, so there the strict defaults of the service hold.
const EMBEDDED_DEFAULTS = {
  OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
  PROJECT_SCM_SCHEMES: 'https,http,ssh,git,file',
  PROJECT_FILE_ROOTS: [homedir(), tmpdir()].join(','),
};

// What the service reads from a file itself.
const KEYS = ['SECRET_KEY', 'SECRET_KEY_OLD'];

/** @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   path: string, databaseUrl: string, redisUrl: string,
 *   account?: import('../services/account.mjs').Account | undefined }} Found */

/**
 * The environment of API, worker and admin commands. `kept` is the part that is written to the
 * data folder; a secret key given by the operator's environment is not among it.
 *
 * @param {Found} found
 */
export function serviceEnvironment({ settings, files, path, databaseUrl, redisUrl, account }) {
  /** @type {Record<string, string>} */
  const kept = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: settings.dataDir,
    HOST: settings.host,
    PORT: String(settings.port),
  };
  if (!settings.databaseUrl) {
    for (const [name, value] of Object.entries(EMBEDDED_DEFAULTS)) {
      kept[name] = process.env[name] ?? value;
    }
  }
  if (!settings.hasSecretKey) kept.SECRET_KEY_FILE = secretKeyFile(files);
  /** @type {NodeJS.ProcessEnv} */
  const all = {
    NODE_ENV: 'production',
    // Node 22 and later start a third faster with it; older ones ignore it.
    NODE_COMPILE_CACHE: join(settings.dataDir, 'compile-cache'),
    ...process.env,
    ...kept,
    PATH: path,
  };
  // Only the commands they are for get to know the first admin's password and the role that owns the
  // tables; the addresses have been read already, and a file would win over them.
  for (const name of ['ADMIN_PASSWORD', 'MIGRATION_DATABASE_URL']) delete all[name];
  for (const name of ['ADMIN_PASSWORD', 'MIGRATION_DATABASE_URL', 'DATABASE_URL', 'REDIS_URL']) {
    delete all[`${name}_FILE`];
  }
  if (account) adapt(all, account, settings.dataDir);
  return { all, kept };
}

/**
 * For an account that is not this process's: its own home, and the keys whose files are not for it.
 *
 * @param {NodeJS.ProcessEnv} all
 * @param {import('../services/account.mjs').Account} account
 * @param {string} dataDir
 */
function adapt(all, account, dataDir) {
  Object.assign(all, { HOME: join(dataDir, 'home'), USER: account.name, LOGNAME: account.name });
  for (const name of KEYS) {
    const file = all[`${name}_FILE`];
    if (!file || canRun(account, 'test', ['-r', file])) continue;
    all[name] = readText(file) ?? '';
    delete all[`${name}_FILE`];
  }
  if (all.TMPDIR && !canUse(account, all.TMPDIR)) delete all.TMPDIR;
}
