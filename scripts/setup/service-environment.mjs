import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { canRun, canUse } from '../services/account.mjs';
import { readText } from '../services/private-file.mjs';
import { secretKeyFile } from './data-folder.mjs';

// Loopback targets and local repositories are permitted for a first try on one machine. A service with its
// own database has the strict defaults of the service.
const EMBEDDED_DEFAULTS = {
  OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
  PROJECT_SCM_SCHEMES: 'https,http,ssh,git,file',
  PROJECT_FILE_ROOTS: [homedir(), tmpdir()].join(','),
};

// Settings that the service reads from a file itself.
const KEYS = ['SECRET_KEY', 'SECRET_KEY_OLD'];

/** @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   path: string, databaseUrl: string, redisUrl: string,
 *   account?: import('../services/account.mjs').Account | undefined }} EnvironmentSources */

/**
 * Returns the environment of API, worker and admin commands. `stored` is the part that is written to the data
 * folder, without a secret key from the operator's environment.
 *
 * @param {EnvironmentSources} sources
 */
export function serviceEnvironment({ settings, files, path, databaseUrl, redisUrl, account }) {
  /** @type {Record<string, string>} */
  const stored = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: settings.dataDir,
    HOST: settings.host,
    PORT: String(settings.port),
  };
  if (!settings.databaseUrl) {
    for (const [name, value] of Object.entries(EMBEDDED_DEFAULTS)) {
      stored[name] = process.env[name] ?? value;
    }
  }
  if (!settings.hasSecretKey) stored.SECRET_KEY_FILE = secretKeyFile(files);
  /** @type {NodeJS.ProcessEnv} */
  const all = {
    NODE_ENV: 'production',
    // Node 22 and later start a third faster with this variable. Older versions ignore it.
    NODE_COMPILE_CACHE: join(settings.dataDir, 'compile-cache'),
    ...process.env,
    ...stored,
    PATH: path,
  };
  // Only the commands that need the password of the first admin or the role that owns the tables receive them.
  // The URLs have been read already, and a file would override them.
  for (const name of ['ADMIN_PASSWORD', 'MIGRATION_DATABASE_URL']) delete all[name];
  for (const name of ['ADMIN_PASSWORD', 'MIGRATION_DATABASE_URL', 'DATABASE_URL', 'REDIS_URL']) {
    delete all[`${name}_FILE`];
  }
  if (account) adapt(all, account, settings.dataDir);
  return { all, stored };
}

/**
 * Adapts the environment to another account: its own home, and keys by value if it cannot read their files.
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
