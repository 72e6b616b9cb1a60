import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

import { note, step } from '../console/progress.mjs';
import { withLock } from '../processes/lock.mjs';
import { endRunningCommands, endWithRunningCommands } from '../processes/run.mjs';
import { endMarkedProcesses } from '../processes/stray.mjs';
import { compileFolder } from '../services/compile.mjs';
import { buildWhenNeeded, installPackages } from '../services/packages.mjs';
import { RUN_MARK, startThrowawayServices, throwawayFolder } from '../services/throwaway.mjs';
import { pathWithPrograms, provideTools } from '../services/tools.mjs';
import { readSettings } from './settings.mjs';

// A developer's settings for a local service must not reach the tests, least of all the URL of a
// database.
const SERVICE_VARIABLES = [
  'DATABASE_URL',
  'REDIS_URL',
  'DATA_DIR',
  'HOST',
  'PORT',
  'SECRET_KEY',
  'SECRET_KEY_OLD',
  'ADMIN_USERNAME',
  'ADMIN_PASSWORD',
  'DEMO_DATA',
  'OUTBOUND_ALLOW',
  'PROJECT_SCM_SCHEMES',
  'PROJECT_FILE_ROOTS',
  'MIGRATION_DATABASE_URL',
].flatMap((name) => [name, `${name}_FILE`]);

/**
 * Installs and builds the requirements of tests and checks, with the same steps as `npm start`.
 *
 * @param {string} root
 * @param {{ programs?: boolean, product?: boolean }} [options] `programs` that tests start, such as Ansible;
 *   `product`: tests start programs of the product itself
 */
export async function provideForTests(root, { programs = true, product = true } = {}) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const log = join(root, 'dist', 'set-up.log');
  await step('Packages', () => installPackages(root, log));
  await step('Build', () => buildWhenNeeded(root, log, product ? [] : ['--without-programs']));
  await step('Tests', () => withLock(join(root, 'dist', '.lock'), () => compileTests(root)));
  if (!programs) return;
  const requests = {
    withRedis: true,
    forTests: true,
    forDomain: process.env.TEST_DOMAIN === '1',
    forBackup: process.env.TEST_BACKUP === '1',
  };
  const options = { ...ansibleSettings(root), log, ...requests };
  await step(
    'Programs',
    () => withLock(join(root, 'dist', '.lock'), () => provideTools(options)),
    ({ detail }) => detail,
  );
}

/**
 * Returns true if test files can start programs of the product itself; without paths, all files run.
 *
 * @param {readonly string[]} paths
 */
export function startsProduct(paths) {
  const layers = /^(?:src|test\/(?:access|api|browser|migrations))\b/;
  return paths.length === 0 || !paths.every((path) => layers.test(path));
}

/** @param {string} root */
function ansibleSettings(root) {
  const { SYSTEM_ANSIBLE } = process.env;
  return readSettings(root, { SYSTEM_ANSIBLE });
}

/** @param {string} root */
async function compileTests(root) {
  // Folder in which tests find the scripts that they import.
  const scripts = join(root, 'dist', 'scripts');
  if (!existsSync(scripts)) symlinkSync(join('..', 'scripts'), scripts);
  // The build omits spec files in `src`.
  const count = (await compileFolder(root, 'src')) + (await compileFolder(root, 'test'));
  return count === 0 ? 'up to date' : `${count} compiled`;
}

/**
 * Starts throw-away services, runs `work(environment)` and removes the services again in any case. Resolves
 * to the result of `work`. A signal ends the processes of the work, the services, and finally this process.
 *
 * @template Result
 * @param {string} root
 * @param {(environment: NodeJS.ProcessEnv) => Promise<Result>} work
 * @param {Parameters<typeof startThrowawayServices>[0]} [options]
 * @returns {Promise<Result>}
 */
export async function withThrowawayServices(root, work, options = {}) {
  const mark = randomBytes(8).toString('hex');
  const interruption = new AbortController();
  let ending = Promise.resolve();
  /** @param {NodeJS.Signals} signal */
  const interrupt = (signal) => {
    process.exitCode = 128 + constants.signals[signal];
    ending = endRunningCommands(signal);
    interruption.abort(signal);
  };
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, interrupt);
  process.env[RUN_MARK] = mark;
  /** @type {import('../services/throwaway.mjs').ThrowawayServices | undefined} */
  let services;
  try {
    services = await step('Throw-away services', () => startThrowawayServices(options));
    interruption.signal.throwIfAborted();
    const working = work(testEnvironment(root, services));
    return await Promise.race([working, rejectionOn(interruption.signal)]);
  } finally {
    await ending;
    await services?.end();
    const strays = await endMarkedProcesses(RUN_MARK, mark);
    // Removed last, because processes that were still running may write there.
    services?.remove();
    for (const command of strays) note(`! ended a leftover process: ${command.slice(0, 200)}`);
    for (const signal of signals) process.off(signal, interrupt);
    // Interrupted work need not end by itself, and its services are gone.
    if (interruption.signal.aborted) process.exit();
  }
}

/**
 * Rejects once `signal` is aborted, with its reason.
 *
 * @param {AbortSignal} signal
 * @returns {Promise<never>}
 */
function rejectionOn(signal) {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/**
 * Runs a program of this project with the input and output of this process; resolves to its exit code.
 *
 * @param {readonly string[]} args
 * @param {{ root: string, environment: NodeJS.ProcessEnv, node?: string | undefined }} context
 * @returns {Promise<number>}
 */
export function runAttached(args, { root, environment, node = process.execPath }) {
  return new Promise((resolve, reject) => {
    const child = endWithRunningCommands(
      spawn(node, args, { cwd: root, env: environment, stdio: 'inherit' }),
    );
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}

/**
 * @param {string} root
 * @param {import('../services/throwaway.mjs').ThrowawayServices} services
 * @returns {NodeJS.ProcessEnv}
 */
function testEnvironment(root, services) {
  const environment = { ...process.env };
  for (const name of SERVICE_VARIABLES) delete environment[name];
  return {
    ...environment,
    DATABASE_URL: services.databaseUrl ?? '',
    REDIS_URL: services.redisUrl ?? '',
    DATA_DIR: throwawayFolder(services, 'data'),
    TMPDIR: throwawayFolder(services, 'tmp'),
    SECRET_KEY: randomBytes(32).toString('base64'),
    PATH: pathWithPrograms(ansibleSettings(root)),
    NODE_OPTIONS: [
      process.env.NODE_OPTIONS,
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
    ]
      .filter(Boolean)
      .join(' '),
  };
}
