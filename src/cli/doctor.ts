import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Settings } from '../config/settings.js';
import { openDataSource } from './migrate.js';
import { messageOf } from '../common/errors/message-of.js';

const run = promisify(execFile);

type Check = readonly [name: string, look: () => Promise<string>];

/** Looks at everything an installation needs and says what is missing. @returns 1 when something is */
export async function doctor(): Promise<number> {
  const settings = Settings.load(process.env);
  const checks: Check[] = [
    ['PostgreSQL', database],
    ['Redis', () => redis(settings.REDIS_URL)],
    ['data folder', () => folder(settings.DATA_DIR)],
    ['git', () => version('git', '--version')],
    ['ansible-runner', () => version('ansible-runner', '--version')],
    ['ansible-playbook', () => version('ansible-playbook', '--version')],
  ];
  let faults = 0;
  for (const [name, look] of checks) {
    try {
      process.stdout.write(`ok      ${name}: ${await look()}\n`);
    } catch (error) {
      faults++;
      process.stdout.write(`FAILED  ${name}: ${messageOf(error).split('\n')[0]}\n`);
    }
  }
  return faults > 0 ? 1 : 0;
}

async function database(): Promise<string> {
  const source = await openDataSource({ poolSize: 2 });
  try {
    const [row] = await source.query<{ server_version: string }[]>(`SHOW server_version`);
    const pending = await source.showMigrations();
    if (pending) throw new Error('migrations are pending: run the migrate command');
    return `version ${row?.server_version ?? ''}, schema up to date`;
  } finally {
    await source.destroy();
  }
}

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

async function version(command: string, argument: string): Promise<string> {
  const { stdout } = await run(command, [argument], { timeout: 20_000 });
  return stdout.split('\n')[0] ?? '';
}
