import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recordOf } from './identity.mjs';
import { lockHolder, tryLock, withLock } from './lock.mjs';

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

  it('names its holder to everybody else', async () => {
    const lock = await tryLock(path, { url: 'http://127.0.0.1:1' });
    const other = await tryLock(path);
    expect(other.holder).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:1' });
    if (!lock.holder) lock.release();
    expect(await lockHolder(path)).toBeNull();
  });

  it('is taken over from a process that is gone', async () => {
    const gone = child();
    writeFileSync(path, JSON.stringify({ ...recordOf(Number(gone.pid)), path }));
    expect((await tryLock(path)).holder?.pid).toBe(gone.pid);
    gone.kill('SIGKILL');
    await ended(gone);
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is taken over when its number belongs to another process by now', async () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, identity: 'an earlier boot', path }));
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('means nothing in a copied folder', async () => {
    writeFileSync(path, JSON.stringify({ ...recordOf(process.pid), path: '/elsewhere/lock.json' }));
    expect(await lockHolder(path)).toBeNull();
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is taken over when its text was never written', async () => {
    writeFileSync(path, '');
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('is held on by a command that outlives its holder', async () => {
    const heir = child();
    const content = { pid: 1, identity: 'gone', path, heir: recordOf(Number(heir.pid)) };
    writeFileSync(path, JSON.stringify(content));
    expect((await tryLock(path)).holder).toMatchObject({ heir: { pid: heir.pid } });
    heir.kill('SIGKILL');
    await ended(heir);
    expect((await tryLock(path)).holder).toBeUndefined();
  });

  it('lets one piece of work run at a time', async () => {
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
