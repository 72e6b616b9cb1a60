/**
 * Prepares an external database for containers that start together: waits for it, then creates the secret
 * key, migrates, and creates the first admin, token and demo objects, as `npm start` does. Needs
 * DATABASE_URL. Everything it generates is stored in DATA_DIR, keys and passwords in KEYS_DIR if that is set,
 * and never printed: a reader of a container's logs need not be its administrator. Each folder of
 * SECRET_KEY_FOLDERS gets a copy of the generated secret key, for processes that must not see the other
 * files. With --without-token no token is created, for replicas that share no folder.
 */
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { messageOf, Problem, reportFailure } from './console/problem.mjs';
import { print, step } from './console/progress.mjs';
import {
  dataFiles,
  copySecretKey,
  createDataFolder,
  assertKeysFolder,
} from './setup/data-folder.mjs';
import { setUpDatabase } from './setup/first-run.mjs';
import { serviceEnvironment } from './setup/service-environment.mjs';
import { readSettings } from './setup/settings.mjs';

const WAIT_LIMIT_MS = 120_000;

try {
  await setUp(readSettings(resolve(dirname(fileURLToPath(import.meta.url)), '..')));
} catch (error) {
  reportFailure(error);
  process.exitCode = 1;
}

/** @param {import('./setup/settings.mjs').StartSettings} settings */
async function setUp(settings) {
  const { databaseUrl, redisUrl } = settings;
  if (!databaseUrl || !redisUrl) throw new Problem('DATABASE_URL and REDIS_URL must be set');
  const files = dataFiles(settings.dataDir, settings.keysDir);
  createDataFolder(settings.dataDir);
  assertKeysFolder(settings.keysDir, 'KEYS_DIR');
  const folders = settings.hasSecretKey ? [] : settings.secretKeyFolders;
  for (const folder of folders) assertKeysFolder(folder, 'SECRET_KEY_FOLDERS');
  const path = process.env.PATH ?? '';
  const { all } = serviceEnvironment({ settings, files, path, databaseUrl, redisUrl });
  copySecretKey(files, folders);
  await step('PostgreSQL responds', () => awaitServer(databaseUrl));
  const { newPassword } = await setUpDatabase({
    settings,
    files,
    environment: all,
    withToken: !process.argv.includes('--without-token'),
  });
  if (newPassword) print(`Login: ${settings.adminUsername}, password in ${files.adminPassword}`);
}

/** @param {string} url */
async function awaitServer(url) {
  const { default: pg } = await import('pg');
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (Date.now() > deadline)
        throw new Problem(`PostgreSQL does not respond: ${messageOf(error)}`);
      await pause(1000);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
