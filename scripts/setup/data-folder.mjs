import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';

import { messageOf, Problem } from '../console/problem.mjs';
import { endRecord, isRunning } from '../processes/identity.mjs';
import { readJson, readText, writePrivate } from '../services/private-file.mjs';

const STOP_ORDER = [['api', 'worker'], ['redis']];
const LEFTOVER_GRACE_MS = 27_000; // The service ends within 25 s.

/** @typedef {ReturnType<typeof dataFiles>} DataFiles */

/**
 * Returns the absolute paths of the files in a data folder.
 *
 * @param {string} dataDir
 * @param {string} [keysDir] folder of the secrets
 */
export function dataFiles(dataDir, keysDir = dataDir) {
  return {
    lock: join(dataDir, 'running.json'),
    processes: join(dataDir, 'processes.json'),
    environment: join(dataDir, 'service.env'),
    setUp: join(keysDir, 'set-up.json'),
    secretKey: join(keysDir, 'secret_key'),
    adminPassword: join(keysDir, 'admin_password'),
    adminToken: join(keysDir, 'admin_token'),
    logs: join(dataDir, 'logs'),
    /** @param {string} name */
    log: (name) => join(dataDir, 'logs', `${name}.log`),
  };
}

/**
 * Creates the data folder and the folder of its logs. If root creates the data folder, other accounts can pass
 * through, so that the account of the database reaches its folder. All other content has a private mode.
 *
 * @param {string} dataDir
 */
export function createDataFolder(dataDir) {
  const asRoot = process.getuid?.() === 0;
  try {
    if (!existsSync(dataDir)) {
      mkdirSync(dataDir, { recursive: true });
      chmodSync(dataDir, asRoot ? 0o711 : 0o700);
    }
    mkdirSync(dataFiles(dataDir).logs, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Problem(`The data folder ${dataDir} cannot be used: ${messageOf(error)}`);
  }
}

/**
 * Throws a Problem if a folder for secrets cannot be used. Does not create a missing folder: without its volume,
 * a key would be lost with the container.
 *
 * @param {string} folder
 * @param {string} setting that contains the folder
 */
export function assertKeysFolder(folder, setting) {
  try {
    if (!statSync(folder).isDirectory()) throw new Problem('it is not a folder');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Problem(
      `The folder of the keys ${folder} (${setting}) cannot be used: ${messageOf(error)}`,
    );
  }
}

/**
 * Returns a path relative to the current folder if it is below this folder.
 *
 * @param {string} path
 */
export function displayPath(path) {
  const relativePath = relative(process.cwd(), path);
  return relativePath === '' || relativePath.startsWith('..') ? path : relativePath;
}

/**
 * Creates the key that encrypts secrets, unless it exists. Returns the path of its file.
 *
 * @param {DataFiles} files
 */
export function secretKeyFile(files) {
  if (!existsSync(files.secretKey)) {
    writePrivate(files.secretKey, `${randomBytes(32).toString('base64')}\n`);
  }
  return files.secretKey;
}

/**
 * Copies the key that encrypts secrets, and no other file, to the folders of separate processes.
 *
 * @param {Pick<DataFiles, 'secretKey'>} files
 * @param {readonly string[]} folders
 */
export function copySecretKey(files, folders) {
  const key = readText(files.secretKey);
  for (const folder of folders) writePrivate(join(folder, 'secret_key'), `${key}\n`);
}

/**
 * Ends processes that a killed start left running, except PostgreSQL, which is ended when its cluster is
 * prepared. Resolves to the names of the ended processes.
 *
 * @param {string} dataDir
 * @returns {Promise<string[]>}
 */
export async function endLeftovers(dataDir) {
  const files = dataFiles(dataDir);
  const record = readJson(files.processes);
  // A copied data folder lists the processes of the original.
  if (record?.dataDir !== dataDir) return [];
  /** @type {string[]} */
  const ended = [];
  for (const names of STOP_ORDER) {
    const running = names.filter((name) => isRunning(record.processes[name]));
    await Promise.all(
      running.map((name) => endRecord(record.processes[name], 'SIGTERM', LEFTOVER_GRACE_MS)),
    );
    ended.push(...running);
  }
  return ended;
}

/**
 * Records the processes that belong to this data folder now.
 *
 * @param {string} dataDir
 * @param {import('../processes/supervise.mjs').Processes} processes
 */
export function writeProcesses(dataDir, processes) {
  writePrivate(dataFiles(dataDir).processes, JSON.stringify({ dataDir, processes }));
}

/**
 * Stores the service's environment for commands that run next to it.
 *
 * @param {Pick<DataFiles, 'environment'>} files
 * @param {Record<string, string>} variables
 */
export function writeEnvironment(files, variables) {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}`);
  writePrivate(files.environment, `${lines.join('\n')}\n`);
}

/**
 * Returns the environment stored by the last start; null if there was none.
 *
 * @param {Pick<DataFiles, 'environment'>} files
 */
export function readEnvironment(files) {
  const text = readText(files.environment);
  return text === null ? null : parseEnv(text);
}

// The file format has no escapes, only a choice of three kinds of quotes.
/**
 * @param {string} name
 * @param {string} value
 */
function quoted(name, value) {
  const quote = ["'", '`', '"'].find((candidate) => !value.includes(candidate));
  if (!quote || (quote === '"' && value.includes('\\'))) {
    throw new Problem(`${name} mixes all kinds of quotation marks and cannot be stored in a file`);
  }
  return `${quote}${value}${quote}`;
}
