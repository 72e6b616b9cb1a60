import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { codeOf, lastLogLines, Problem } from '../console/problem.mjs';
import { commandLineOf, endRecord, recordOf } from '../processes/identity.mjs';
import { run } from '../processes/run.mjs';
import { asAccount } from './account.mjs';
import { freePort } from './ports.mjs';
import { createClusterFolder, reachableServer } from './postgres-folders.mjs';
import { ADMINISTRATOR, DATABASE, provideRole, ROLE } from './postgres-role.mjs';
import { readJson, writePrivate } from './private-file.mjs';

const FOLDER = 'postgres';
const READY_LIMIT_MS = 60_000;
const STOP_GRACE_MS = 30_000;
const POLL_MS = 40;
const START_ATTEMPTS = 3;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

// Throwaway data need not survive a power failure, so writes are several times faster. Commits stay
// synchronous: committed data survives a kill of the server, which the fault tests rely on.
const THROWAWAY_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Its processes run as the superuser: a database in which one is active cannot be dropped by force.
  autovacuum: 'off',
};

/**
 * Location and account of a cluster. A new cluster is created in `target`, by default below `home`.
 *
 * @typedef {{ home: string, account: import('./account.mjs').Account | null, logFile: string,
 *   durable?: boolean, target?: string }} Location
 * @typedef {Required<Location> & { server: { folder: string } }} Cluster
 * @typedef {{ cluster: string, password: string, port: number | null, home: string }} ClusterRecord
 */

/**
 * Ensures that a cluster belongs to `home` and that no earlier server runs on it. `home/postgres.json` stores
 * its path, port and password. Resolves to the program for the Supervisor, the connection URL and messages
 * for the user (`notes`).
 *
 * @param {Location} options
 */
async function preparePostgres(options) {
  const { home, account, logFile, durable = true, target = join(options.home, FOLDER) } = options;
  const server = reachableServer(account);
  const recordFile = join(home, 'postgres.json');
  const notes = server.copied ? [`PostgreSQL's programs are in ${server.folder}`] : [];
  const record = await openCluster({ ...options, durable, target, server, recordFile, notes });
  await endEarlierServer(record.cluster);
  const environment = minimalEnvironment();
  const context = { account, server, logFile, durable, environment };
  await provideRole(context, record.cluster, record.password);
  const port = await freePort(record.port);
  // A cluster inside the folder moves with it, so only a path outside of the folder is stored.
  const { cluster, ...rest } = record;
  const stored = cluster === join(home, FOLDER) ? { ...rest, port } : { ...record, port };
  writePrivate(recordFile, JSON.stringify(stored));
  return {
    program: program({ server, record: { ...record, port }, account, logFile, durable }),
    url: `postgresql://${ROLE}:${record.password}@127.0.0.1:${port}/${DATABASE}`,
    cluster: record.cluster,
    notes,
  };
}

/**
 * Prepares and starts the server under the supervisor, and waits for it. Tries again if it fails to start:
 * another program may have taken the port, or a server of a killed start may have come first. Resolves to the
 * result of `preparePostgres`.
 *
 * @param {Location & { supervisor: import('../processes/supervise.mjs').Supervisor }} options
 */
export async function startPostgres({ supervisor, ...options }) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const prepared = await preparePostgres(options);
      supervisor.start(prepared.program);
      const exited = supervisor.exited('postgres');
      await awaitPostgres({ url: prepared.url, exited, logFile: options.logFile });
      return prepared;
    } catch (error) {
      if (!(error instanceof Problem) || attempt === START_ATTEMPTS) throw error;
      await supervisor.stop(['postgres']);
    }
  }
}

/**
 * Waits until the server accepts connections. `exited` is the Supervisor's promise of the process, which ends
 * the wait early.
 *
 * @param {{ url: string, exited: Promise<unknown>, logFile: string }} server
 */
export async function awaitPostgres({ url, exited, logFile }) {
  const { default: pg } = await import('pg');
  let ended = false;
  void exited.then(() => (ended = true));
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline && !ended) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (!['ECONNREFUSED', 'ECONNRESET', '57P03'].includes(codeOf(error) ?? '')) throw error;
      await pause(POLL_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  const logLines = lastLogLines(logFile, 8);
  throw new Problem(`PostgreSQL does not start (its log is ${logFile})`, logLines);
}

/**
 * @param {Cluster & { recordFile: string, notes: string[] }} context
 * @returns {Promise<ClusterRecord>}
 */
async function openCluster(context) {
  const { home, target, account, server, recordFile, notes } = context;
  const record = readJson(recordFile);
  const cluster = record?.cluster ?? join(home, FOLDER);
  if (record && existsSync(join(cluster, 'PG_VERSION'))) {
    if (record.cluster) checkNotCopied(record, home);
    await checkVersion(cluster, server);
    await checkOwner(cluster, account);
    return { ...record, cluster, home };
  }
  const { folder, fallback } = createClusterFolder(account, target);
  if (fallback && account) {
    notes.push(`the account ${account.name} cannot reach ${home}: the database is in ${folder}`);
  }
  // If the record is lost and the data is not, the role gets another password.
  if (existsSync(join(folder, 'PG_VERSION'))) await checkOwner(folder, account);
  else await initialize(context, folder);
  return { cluster: folder, password: randomBytes(24).toString('hex'), port: null, home };
}

// A copied data folder names the database of the original, which must not be used.
/**
 * @param {{ home: string, cluster: string }} record
 * @param {string} home
 */
function checkNotCopied(record, home) {
  if (record.home === home || !existsSync(join(record.home, 'postgres.json'))) return;
  throw new Problem(
    `${home} is a copy of ${record.home}, and its database in ${record.cluster} belongs to ` +
      'the original: choose another DATA_DIR',
  );
}

/**
 * @param {string} cluster
 * @param {Cluster['server']} server
 */
async function checkVersion(cluster, server) {
  const created = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  const { stdout } = await run(join(server.folder, 'bin', 'postgres'), ['--version'], { cwd: '/' });
  const packaged = /(\d+)/.exec(stdout)?.[1];
  if (created === packaged) return;
  throw new Problem(
    `The database in ${cluster} was created by PostgreSQL ${created}, the packaged version is ${packaged}: ` +
      'dump it with the old version and load it into a new DATA_DIR',
  );
}

/**
 * @param {string} cluster
 * @param {Cluster['account']} account
 */
async function checkOwner(cluster, account) {
  const { uid } = statSync(cluster);
  if (uid === (account ? account.uid : process.getuid?.())) return;
  if (account && (uid === 0 || !(await isKnown(uid)))) {
    // The cluster was copied by root, or the account was created anew: no server of another account can use
    // it.
    await run('chown', ['-R', `${account.uid}:${account.gid}`, cluster]);
    return;
  }
  throw new Problem(
    `The database in ${cluster} belongs to user id ${uid}: start as that user, ` +
      'or choose another DATA_DIR',
  );
}

/** @param {number} uid */
async function isKnown(uid) {
  return (await run('id', [String(uid)], { anyCode: true })).code === 0;
}

// Created under another name first: an interrupted start must not leave an incomplete cluster.
/**
 * @param {Cluster} cluster
 * @param {string} folder
 */
async function initialize({ account, server, logFile, durable }, folder) {
  removeDrafts(folder);
  const draft = `${folder}.new-${process.pid}`;
  const passwordFile = `${draft}.password`;
  mkdirSync(draft, { mode: 0o700 });
  // initdb requires a password, which is removed once the role with rights on a single database exists.
  writeFileSync(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  try {
    if (account) {
      for (const path of [draft, passwordFile]) chownSync(path, account.uid, account.gid);
    }
    const args = [
      '--pgdata',
      draft,
      '--username',
      ADMINISTRATOR,
      '--pwfile',
      passwordFile,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--locale-provider',
      'builtin',
      '--builtin-locale',
      'C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ];
    const options = { cwd: draft, env: minimalEnvironment(), log: logFile, name: 'initdb' };
    await run(join(server.folder, 'bin', 'initdb'), args, { ...options, ...asAccount(account) });
    renameSync(draft, folder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

// Removes drafts of killed starts. If a process still writes a draft, the next start removes it.
/** @param {string} folder */
function removeDrafts(folder) {
  for (const name of readdirSync(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}.new-`)) continue;
    try {
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY') throw error;
    }
  }
}

/**
 * @param {Omit<Cluster, 'home' | 'target'> & { record: ClusterRecord }} cluster
 * @returns {import('../processes/supervise.mjs').ProgramSpec}
 */
function program({ server, record, account, logFile, durable }) {
  const settings = { ...SETTINGS, ...(durable ? {} : THROWAWAY_SETTINGS) };
  const args = ['-D', record.cluster, '-p', String(record.port)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  return {
    name: 'postgres',
    file: join(server.folder, 'bin', 'postgres'),
    args,
    options: { cwd: record.cluster, env: minimalEnvironment(), ...asAccount(account) },
    logFile,
    stopSignal: 'SIGINT', // "Fast shutdown": connections are ended, everything is written.
    graceMs: STOP_GRACE_MS,
  };
}

/**
 * Ends a server that an earlier start left running on the cluster, and removes the pid file of a killed
 * server: another process may have the same pid by now.
 *
 * @param {string} cluster
 */
async function endEarlierServer(cluster) {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (commandLineOf(pid).includes(`-D ${cluster} `)) {
    await endRecord(recordOf(pid), 'SIGINT', STOP_GRACE_MS);
  }
  rmSync(file, { force: true });
}

// The service's settings and secrets must not reach the process of another account.
/** @returns {NodeJS.ProcessEnv} */
function minimalEnvironment() {
  const { PATH = '/usr/bin:/bin', AUTOMATION_TEST_RUN } = process.env;
  return { PATH, LC_ALL: 'C', TZ: 'UTC', ...(AUTOMATION_TEST_RUN && { AUTOMATION_TEST_RUN }) };
}
