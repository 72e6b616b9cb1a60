import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Settings } from '../config/settings.js';
import { findIsolation, refusalOf } from '../execution/sandbox/isolation.js';
import { NOT_ISOLATED } from '../instances/isolation.js';
import { severalOrganizations } from '../organizations/organizations.repository.js';
import { withDatabase } from './migrate.js';
import { tryKey } from './rotate-secret-key.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { messageOf } from '../common/errors/errors.js';

const execute = promisify(execFile);

/** Warning about a configuration that can be intended. */
class Caution extends Error {}

type Check = readonly [name: string, look: () => Promise<string>];

/**
 * Checks all requirements of an installation and prints the results.
 *
 * @returns 1 if a check failed
 */
export async function doctor(): Promise<number> {
  const settings = Settings.load(process.env);
  const checks: Check[] = [
    ['PostgreSQL', database],
    ['SECRET_KEY', () => secretKey(settings)],
    ['Redis', () => redis(settings.REDIS_URL)],
    ['data folder', () => folder(settings.DATA_DIR)],
    ['git', () => version('git')],
    ['ansible-runner', () => version('ansible-runner')],
    ['ansible-playbook', () => version('ansible-playbook')],
    ['job isolation', () => isolation(settings)],
  ];
  let faults = 0;
  for (const [name, check] of checks) {
    try {
      process.stdout.write(`ok      ${name}: ${await check()}\n`);
    } catch (error) {
      const isFault = !(error instanceof Caution);
      if (isFault) faults++;
      const label = isFault ? 'FAILED' : 'WARN  ';
      process.stdout.write(`${label}  ${name}: ${messageOf(error).split('\n')[0]}\n`);
    }
  }
  return faults > 0 ? 1 : 0;
}

const database = (): Promise<string> =>
  withDatabase(async ({ dataSource }) => {
    const [row] = await dataSource.query<{ server_version: string }[]>(`SHOW server_version`);
    const pending = await dataSource.showMigrations();
    if (pending) throw new Error('migrations are pending: run the migrate command');
    return `version ${row?.server_version ?? ''}, schema up to date`;
  });

/** Checks that the key decrypts the stored secrets: a restored database can need another key. */
const secretKey = ({ SECRET_KEY, SECRET_KEY_OLD }: Settings): Promise<string> =>
  withDatabase(async ({ dataSource }) => {
    const box = new SecretBox(SECRET_KEY, SECRET_KEY_OLD);
    const { opened, outdated, left } = await tryKey(dataSource, box);
    if (outdated > 0)
      throw new Caution('some secrets still need SECRET_KEY_OLD: run rotate-secret-key');
    // A text that a user entered can look like an encrypted secret.
    if (opened === 0 && left > 0) throw new Error('the secrets of this database need another key');
    return opened === 0 ? 'there are no secrets yet' : 'decrypts the stored secrets';
  });

/** Checks the sandbox that a worker on this machine would use. */
async function isolation(settings: Settings): Promise<string> {
  const isolationMode = await findIsolation(settings);
  const refusal = await refusalOf(isolationMode, settings.JOB_ISOLATION, servesSeveral);
  if (refusal !== null) throw new Error(refusal);
  if (isolationMode.mode === 'none') throw new Caution(`${NOT_ISOLATED} ${isolationMode.detail}.`);
  const { JOB_NETWORK, JOB_PROCESSES, JOB_CPUS, JOB_MEMORY_BYTES: bytes } = settings;
  const measured = isolationMode.mode === 'container' ? 'measured' : 'measured, not enforced';
  const memory = bytes === 0 ? 'any memory' : `${bytes} bytes of memory (${measured})`;
  return `${isolationMode.detail}, network ${JOB_NETWORK}, a job can have ${JOB_PROCESSES} processes and ${memory}${JOB_CPUS === 0 ? '' : `, and use ${JOB_CPUS} processors`}`;
}

const servesSeveral = (): Promise<boolean> =>
  withDatabase((database) => database.exists(severalOrganizations()));

async function redis(url: string): Promise<string> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3000,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const info = await client.info('server');
    return `version ${/redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown'}`;
  } finally {
    client.disconnect();
  }
}

async function folder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  return path;
}

async function version(command: string): Promise<string> {
  const { stdout } = await execute(command, ['--version'], { timeout: 20_000 });
  return stdout.split('\n')[0] ?? '';
}
