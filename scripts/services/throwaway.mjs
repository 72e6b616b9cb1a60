import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import { Problem } from '../console/problem.mjs';
import { childrenOf, endRecord, isRunning, recordOf } from '../processes/identity.mjs';
import { endMarkedProcesses } from '../processes/stray.mjs';
import { Supervisor } from '../processes/supervise.mjs';
import { databaseAccount } from './account.mjs';
import { awaitPostgres, startPostgres } from './postgres.mjs';
import { readJson, writePrivate } from './private-file.mjs';
import { awaitRedis, prepareRedis } from './redis.mjs';
import { findProgram } from './tools.mjs';

/**
 * Program that can be restarted, and a function that waits until the program responds.
 *
 * @typedef {{ program: import('../processes/supervise.mjs').ProgramSpec,
 *   ready: (exited: Promise<unknown>) => Promise<void> }} RestartableService
 * @typedef {import('./throwaway.d.mts').ThrowawayServices} Declared
 */

const PREFIX = 'automation-controller-throwaway-';
const SERVICES = ['redis', 'postgres'];

/** Folder that Linux keeps in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** Minimum of free bytes in the folder and in memory. A test run uses less than a quarter of them. */
const MINIMUM_FREE = { folder: 2 ** 31, memory: 2 ** 33 };

/** Environment variable that marks all processes of a test run. */
export const RUN_MARK = 'AUTOMATION_TEST_RUN';

/**
 * Starts a PostgreSQL and a Redis for tests, on free ports and with data in a temporary folder: fast, unsafe
 * against power loss, and removed completely by `stop()`. The role of `databaseUrl` may create databases,
 * whose files are in memory if there is space for them, unless `onDisk` is set: each database has a thousand
 * files, which some disks take a second to create.
 *
 * @param {{ postgres?: boolean, redis?: boolean, onDisk?: boolean }} [options]
 * @returns {Promise<import('./throwaway.d.mts').ThrowawayServices>}
 */
export async function startThrowawayServices({
  postgres = true,
  redis = true,
  onDisk = false,
} = {}) {
  await removeAbandoned();
  const services = new ThrowawayServices();
  try {
    if (postgres) await services.startPostgres(onDisk);
    if (redis) await services.startRedis();
    return services;
  } catch (error) {
    await services.stop();
    throw error;
  }
}

/** @implements {Declared} */
class ThrowawayServices {
  folder = mkdtempSync(join(tmpdir(), PREFIX));
  /** @type {string | null} */
  databaseUrl = null;
  /** @type {string | null} */
  redisUrl = null;
  /** @type {string | null} */
  #cluster = null;
  /** @type {Map<string, RestartableService>} */
  #services = new Map();
  #supervisor = new Supervisor({ onChange: (processes) => this.#write(processes) });

  constructor() {
    // The account of the database must pass through the folder. Other accounts cannot list the folder.
    chmodSync(this.folder, 0o711);
    this.#write({});
  }

  /** @param {boolean} onDisk */
  async startPostgres(onDisk) {
    const logFile = join(this.folder, 'postgres.log');
    const prepared = await startPostgres({
      supervisor: this.#supervisor,
      home: this.folder,
      account: await databaseAccount(),
      logFile,
      durable: false,
      ...(!onDisk && hasMemory() && { target: join(inMemory(this.folder), 'postgres') }),
    });
    this.#cluster = prepared.cluster;
    this.databaseUrl = prepared.url;
    this.#services.set('postgres', {
      program: prepared.program,
      ready: (exited) => awaitPostgres({ url: prepared.url, exited, logFile }),
    });
  }

  async startRedis() {
    const logFile = join(this.folder, 'redis.log');
    const binary = findProgram('redis-server');
    if (binary === null) throw new Problem('redis-server is not on PATH');
    const prepared = await prepareRedis({ home: this.folder, binary, logFile, durable: false });
    this.redisUrl = prepared.url;
    this.#services.set('redis', {
      program: prepared.program,
      ready: (exited) => awaitRedis({ url: prepared.url, exited, logFile }),
    });
    await this.resume('redis');
  }

  /**
   * Ends "postgres" or "redis" with a signal (SIGQUIT is PostgreSQL's immediate stop), and waits.
   *
   * @param {'postgres' | 'redis'} name
   * @param {NodeJS.Signals} [signal]
   */
  async halt(name, signal = 'SIGKILL') {
    const exited = this.#supervisor.exited(name);
    const children = childrenOf(this.#supervisor.pid(name));
    this.#supervisor.kill([name], signal);
    await exited;
    // Processes of a killed PostgreSQL can outlive it, and no server starts while they use its memory.
    await Promise.all(children.map((child) => endRecord(child, 'SIGQUIT', 5000)));
  }

  /**
   * Restarts a halted service with the same address and data, and waits.
   *
   * @param {'postgres' | 'redis'} name
   */
  async resume(name) {
    const service = this.#services.get(name);
    if (!service) throw new Problem(`${name} was not requested`);
    this.#supervisor.start(service.program);
    await service.ready(this.#supervisor.exited(name));
  }

  async stop() {
    await this.end();
    this.remove();
  }

  async end() {
    await this.#supervisor.close([SERVICES]);
  }

  remove() {
    removeData(this.folder, this.#cluster);
  }

  /** @param {import('../processes/supervise.mjs').Processes} processes */
  #write(processes) {
    if (!existsSync(this.folder)) return;
    const owner = recordOf(process.pid);
    writePrivate(
      join(this.folder, 'processes.json'),
      JSON.stringify({ owner, mark: currentMark(), processes, cluster: this.#cluster }),
    );
  }
}

/**
 * Creates a folder below the folder of the services, for data that is removed with the services.
 *
 * @param {Pick<ThrowawayServices, 'folder'>} services
 * @param {string} name
 */
export function throwawayFolder(services, name) {
  const folder = join(services.folder, name);
  // Tests run programs under other accounts, which must pass through this folder to their own folders.
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  return folder;
}

/** @param {string} folder */
const inMemory = (folder) => join(MEMORY_FOLDER, basename(folder));

function hasMemory() {
  if (!existsSync(MEMORY_FOLDER)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  return bavail * bsize > MINIMUM_FREE.folder && process.availableMemory() > MINIMUM_FREE.memory;
}

function currentMark() {
  return process.env[RUN_MARK] ?? null;
}

// Removes the remains of killed runs.
async function removeAbandoned() {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const known = readJson(join(folder, 'processes.json'));
    if (!known || isRunning(known.owner)) continue;
    for (const record of Object.values(known.processes)) await endRecord(record, 'SIGKILL', 5000);
    // Services of a killed test may belong to the run that still continues.
    if (known.mark && known.mark !== currentMark()) await endMarkedProcesses(RUN_MARK, known.mark);
    removeData(folder, known.cluster);
  }
}

/**
 * @param {string} folder
 * @param {string | null} cluster
 */
function removeData(folder, cluster) {
  if (cluster && dirname(cluster) !== folder) {
    rmSync(cluster, { recursive: true, force: true });
    rmSync(`${cluster}.belongs-to`, { force: true });
  }
  for (const path of [inMemory(folder), folder]) {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
