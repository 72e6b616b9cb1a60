import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recordOf } from './identity.mjs';
import { lockHolder, tryLock, withLock } from './lock.mjs';

/**
 * Program that takes the lock at `path`, which another process releases and takes again with `content` before
 * the program reads it. Prints the process id of the holder.
 */
const TAKE_BETWEEN = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const [module, path, content] = process.argv.slice(1);
  const read = fs.readFileSync;
  fs.readFileSync = (file, ...options) => {
    if (file !== path || !fs.existsSync(path)) return read(file, ...options);
    fs.readFileSync = read;
    syncBuiltinESMExports();
    fs.rmSync(path);
    try {
      return read(path);
    } finally {
      fs.writeFileSync(path, content);
    }
  };
  syncBuiltinESMExports();
  const { tryLock } = await import(module);
  const { holder } = await tryLock(path);
  process.stdout.write(String(holder?.pid));
`;

describe('a lock file', () => {
  /** @type {string} */
  let folder;
  /** @type {string} */
  let path;
  const child = () => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  /** @param {import('node:child_process').ChildProcess} process */
  const ended = (process) => new Promise((resolve) => process.once('exit', resolve));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    path = join(folder, 'lock.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('shows its owner to other processes', async () => {
    const lock = await tryLock(path, { url: 'http://127.0.0.1:1' });
    const other = await tryLock(path);
    expect(other.holder).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:1' });
    if (!lock.holder) lock.release();
    expect(await lockHolder(path)).toBeNull();
  });

  it('is taken over from a process that has ended', async () => {
    const gone = child();
    writeFileSync(path, JSON.stringify({ ...recordOf(Number(gone.pid)), path }));
    expect((await tryLock(path)).holder?.pid).toBe(gone.pid);
    gone.kill('SIGKILL');
    await ended(gone);
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is taken over if its process id belongs to another process', async () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, identity: 'an earlier boot', path }));
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('has no effect in a copied folder', async () => {
    writeFileSync(path, JSON.stringify({ ...recordOf(process.pid), path: '/elsewhere/lock.json' }));
    expect(await lockHolder(path)).toBeNull();
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is taken over if its content was never written', async () => {
    writeFileSync(path, '');
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('stays locked by a command that outlives its owner', async () => {
    const heir = child();
    const content = { pid: 1, identity: 'gone', path, heir: recordOf(Number(heir.pid)) };
    writeFileSync(path, JSON.stringify(content));
    expect((await tryLock(path)).holder).toMatchObject({ heir: { pid: heir.pid } });
    heir.kill('SIGKILL');
    await ended(heir);
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is not taken from a process that takes it just after its release', () => {
    const content = JSON.stringify({ ...recordOf(process.pid), path });
    writeFileSync(path, content);
    const lock = join(import.meta.dirname, 'lock.mjs');
    const args = ['--input-type=module', '--eval', TAKE_BETWEEN, lock, path, content];
    const holder = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect([holder, readFileSync(path, 'utf8')]).toEqual([String(process.pid), content]);
  });

  it('permits one task at a time', async () => {
    /** @type {string[]} */
    const order = [];
    /** @param {string} name */
    const work = (name) =>
      withLock(path, async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        order.push(`${name} ends`);
      });
    await Promise.all([work('one'), work('two')]);
    expect(order.map((line) => line.split(' ')[1])).toEqual(['begins', 'ends', 'begins', 'ends']);
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });
});
