/**
 * Budget: 40 s, because the set-up runs as a program against a database of its own.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { startThrowawayServices } from '../services/throwaway.mjs';

const execute = promisify(execFile);
const program = resolve(import.meta.dirname, '..', 'set-up.mjs');

describe('the setup of a container', () => {
  /** @type {import('../services/throwaway.mjs').ThrowawayServices} */
  let services;
  const folder = mkdtempSync(join(tmpdir(), 'set-up-'));
  const keys = join(folder, 'keys');
  const readers = ['api', 'worker'].map((name) => join(folder, name));

  beforeAll(async () => {
    for (const one of [keys, ...readers]) mkdirSync(one);
    services = await startThrowawayServices();
  }, 60_000);
  afterAll(async () => {
    await services.stop();
    rmSync(folder, { recursive: true });
  });

  it('passes the key without printing it, because other users read the logs', async () => {
    const { stdout, stderr } = await execute(process.execPath, [program], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: String(services.databaseUrl),
        REDIS_URL: String(services.redisUrl),
        DATA_DIR: join(folder, 'data'),
        KEYS_DIR: keys,
        DEMO_DATA: '0',
        SECRET_KEY_FOLDERS: readers.join(', '),
      },
    });
    const output = `${stdout}${stderr}`;
    expect(output).toContain(join(keys, 'admin_password'));
    for (const name of ['admin_password', 'admin_token', 'secret_key']) {
      const secret = readFileSync(join(keys, name), 'utf8').trim();
      expect(secret.length).toBeGreaterThan(10);
      expect(output).not.toContain(secret);
    }
    for (const url of [services.databaseUrl, services.redisUrl]) {
      expect(output).not.toContain(new URL(String(url)).password);
    }
    for (const one of readers) {
      expect(readdirSync(one)).toEqual(['secret_key']);
      const file = join(one, 'secret_key');
      expect(readFileSync(file)).toEqual(readFileSync(join(keys, 'secret_key')));
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  }, 120_000);

  it('passes no key before every folder for it exists', async () => {
    const api = join(folder, 'known');
    mkdirSync(api);
    const failed = execute(process.execPath, [program], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: String(services.databaseUrl),
        REDIS_URL: String(services.redisUrl),
        DATA_DIR: join(folder, 'data'),
        KEYS_DIR: keys,
        SECRET_KEY_FOLDERS: `${api},${join(folder, 'none')}`,
      },
    });
    const { code, stderr } = await failed.catch((error) => error);
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(folder, 'none')} (SECRET_KEY_FOLDERS) cannot be used: ENOENT`);
    expect(readdirSync(api)).toEqual([]);
  });

  it.each([
    ['missing', join(folder, 'none'), 'ENOENT: no such file or directory, stat '],
    ['a file', program, 'it is not a folder'],
  ])(
    'reports in one line without a stack trace that the folder of the keys is %s',
    async (_, at, why) => {
      const failed = execute(process.execPath, [program], {
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: String(services.databaseUrl),
          REDIS_URL: String(services.redisUrl),
          DATA_DIR: join(folder, 'unused'),
          KEYS_DIR: at,
        },
      });
      const { code, stdout, stderr } = await failed.catch((error) => error);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^✗ The folder of the keys \S+ \(KEYS_DIR\) cannot be used: .*\n$/);
      expect(stderr).toContain(`${at} (KEYS_DIR) cannot be used: ${why}`);
    },
  );
});
