import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recordOf } from '../processes/identity.mjs';
import {
  dataFiles,
  endLeftovers,
  readEnvironment,
  secretKeyFile,
  writeEnvironment,
  writeProcesses,
} from './data-folder.mjs';

describe('the data folder', () => {
  /** @type {string} */
  let folder;
  /** @type {import('./data-folder.mjs').DataFiles} */
  let files;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'data-'));
    files = dataFiles(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('returns the stored environment unchanged, readable by its owner only', () => {
    const variables = {
      DATABASE_URL: 'postgresql://controller:p%40ss@127.0.0.1:5432/controller',
      PLAIN: 'with # and = and spaces ',
      SINGLE: "it's",
      BOTH: 'it\'s "quoted"',
      EMPTY: '',
    };
    writeEnvironment(files, variables);
    expect({ ...readEnvironment(files) }).toEqual(variables);
    expect(statSync(files.environment).mode & 0o777).toBe(0o600);
  });

  it('refuses to store values that would change', () => {
    expect(() => writeEnvironment(files, { ODD: '\'"`' })).toThrow('ODD');
  });

  it('has no environment before the first start', () => {
    expect(readEnvironment(files)).toBeNull();
  });

  it('creates the secret key once', () => {
    const first = statSync(secretKeyFile(files));
    expect(first.mode & 0o777).toBe(0o600);
    expect(statSync(secretKeyFile(files)).ino).toBe(first.ino);
  });

  describe('after a start whose process was killed', () => {
    /** @type {import('node:child_process').ChildProcess} */
    let left;
    /** @type {Promise<NodeJS.Signals | null>} */
    let exited;
    beforeEach(() => {
      left = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
      exited = new Promise((resolve) => left.once('exit', (_code, signal) => resolve(signal)));
    });
    afterEach(() => left.kill('SIGKILL'));

    it('terminates processes that still run', async () => {
      writeProcesses(folder, { api: recordOf(Number(left.pid)) });
      expect(await endLeftovers(folder)).toEqual(['api']);
      expect(await exited).toBe('SIGTERM');
      expect(await endLeftovers(folder)).toEqual([]);
    });

    it('does not terminate another process with the same id', async () => {
      writeProcesses(folder, { api: { pid: Number(left.pid), identity: 'an earlier boot' } });
      expect(await endLeftovers(folder)).toEqual([]);
      expect(left.exitCode).toBeNull();
    });

    it('does not terminate the processes of the original if the folder was copied', async () => {
      const copy = mkdtempSync(join(tmpdir(), 'copy-'));
      writeProcesses(folder, { api: recordOf(Number(left.pid)) });
      cpSync(files.processes, dataFiles(copy).processes);
      expect(await endLeftovers(copy)).toEqual([]);
      rmSync(copy, { recursive: true });
    });
  });
});
