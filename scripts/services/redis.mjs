import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { lastLogLines, Problem } from '../console/problem.mjs';
import { freePort } from './ports.mjs';
import { readJson, writePrivate } from './private-file.mjs';

const READY_LIMIT_MS = 30_000;
const POLL_MS = 30;
const STOP_GRACE_MS = 10_000;

/**
 * Writes the configuration of a private Redis for `home` and resolves to the program for the Supervisor and
 * the connection URL. `home/redis.json` stores port and password.
 *
 * @param {{ home: string, binary: string, logFile: string, durable?: boolean,
 *   account?: import('./account.mjs').Account | undefined }} options `account` runs Redis, if it
 *   differs from the account of this process
 */
export async function prepareRedis({ home, binary, logFile, durable = true, account }) {
  const folder = join(home, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const recordFile = join(home, 'redis.json');
  /** @type {{ password: string, port?: number }} */
  const stored = readJson(recordFile) ?? { password: randomBytes(24).toString('hex') };
  const record = { ...stored, port: await freePort(stored.port) };
  writePrivate(recordFile, JSON.stringify(record));
  const configuration = join(folder, 'redis.conf');
  writePrivate(configuration, configurationText(folder, record, durable));
  if (account) chownSync(configuration, account.uid, account.gid);
  return {
    /** @type {import('../processes/supervise.mjs').ProgramSpec} */
    program: {
      name: 'redis',
      file: binary,
      args: [configuration],
      options: { cwd: folder },
      logFile,
      stopSignal: 'SIGTERM',
      graceMs: STOP_GRACE_MS,
    },
    url: `redis://default:${record.password}@127.0.0.1:${record.port}/0`,
  };
}

/**
 * Waits until the server has loaded its data and responds; `exited` ends the wait early.
 *
 * @param {{ url: string, exited: Promise<unknown>, logFile: string }} server
 */
export async function awaitRedis({ url, exited, logFile }) {
  let ended = false;
  void exited.then(() => (ended = true));
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline && !ended) {
    if (await respondsToPing(new URL(url))) return;
    await pause(POLL_MS);
  }
  const logLines = lastLogLines(logFile, 8);
  throw new Problem(`Redis does not start (its log is ${logFile})`, logLines);
}

// The password is in a private file, because every account can read the arguments of a process. With
// "noeviction", the queue does not lose entries silently.
/**
 * @param {string} folder
 * @param {{ password: string, port: number }} record
 * @param {boolean} durable
 */
function configurationText(folder, record, durable) {
  return [
    'bind 127.0.0.1',
    `port ${record.port}`,
    `requirepass ${record.password}`,
    `dir ${JSON.stringify(folder)}`,
    `appendonly ${durable ? 'yes' : 'no'}`,
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'daemonize no',
    'logfile ""',
    '',
  ].join('\n');
}

/**
 * @param {URL} address
 * @returns {Promise<boolean>}
 */
function respondsToPing({ hostname, port, password }) {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 1000 });
    let response = '';
    /** @param {boolean} result */
    const finish = (result) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (chunk) => {
      response += chunk;
      if (response.includes('+PONG')) finish(true);
      else if (response.includes('-')) finish(false); // Redis is still loading, or another server has the port.
    });
    socket.once('timeout', () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
