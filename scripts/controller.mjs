/**
 * `npm run controller -- <command>`: the admin command line, with the settings of the service that
 * was started from this folder. Variables of the environment override the stored variables.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Problem, reportFailure } from './console/problem.mjs';
import { lockHolder } from './processes/lock.mjs';
import { pathWithPrograms } from './services/tools.mjs';
import { dataFiles, readEnvironment, displayPath } from './setup/data-folder.mjs';
import { readSettings } from './setup/settings.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);

try {
  process.exitCode = await runCommand();
} catch (error) {
  reportFailure(error);
  process.exitCode = 1;
}

/** @returns {Promise<number>} */
async function runCommand() {
  const program = join(root, 'dist', 'cli.js');
  if (!existsSync(program)) throw new Problem('Not built yet: run "npm start" once');
  const settings = readSettings(root);
  const stored = readEnvironment(dataFiles(settings.dataDir)) ?? {};
  await checkDatabaseRuns(settings);
  /** @type {NodeJS.ProcessEnv} */
  const env = { NODE_ENV: 'production', ...stored, ...process.env };
  env.PATH = pathWithPrograms(settings);
  if (process.env.SECRET_KEY) delete env.SECRET_KEY_FILE;
  const child = spawn(process.execPath, [program, ...args], { cwd: root, env, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.on(signal, () => child.kill(signal));
  return new Promise((done) => {
    child.on('exit', (code, signal) => done(signal ? 1 : (code ?? 1)));
  });
}

/** @param {import('./setup/settings.mjs').StartSettings} settings */
async function checkDatabaseRuns({ databaseUrl, dataDir }) {
  const asksForHelp = args.length === 0 || args.includes('--help') || args.includes('-h');
  if (databaseUrl || asksForHelp) return;
  if (!existsSync(join(dataDir, 'postgres.json'))) return;
  if (await lockHolder(dataFiles(dataDir).lock)) return;
  throw new Problem(
    `The service of ${displayPath(dataDir)} is not running, so its database is not running: ` +
      'start the service with "npm start", or set DATABASE_URL',
  );
}
