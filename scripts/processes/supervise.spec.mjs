import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isRunning } from './identity.mjs';
import { Supervisor, trimLog } from './supervise.mjs';

describe('the supervisor', () => {
  /** @type {string} */
  let folder;
  /** @type {Supervisor} */
  let supervisor;
  /** @type {import('./supervise.mjs').Crash[]} */
  let crashes;
  /** @type {import('./supervise.mjs').Processes} */
  let records;
  let isDiskFull = false;

  /**
   * @param {string} name
   * @param {string} script
   * @param {Partial<import('./supervise.mjs').ProgramSpec>} [more]
   */
  const start = (name, script, more = {}) =>
    supervisor.start({
      name,
      file: process.execPath,
      args: ['-e', script],
      logFile: join(folder, `${name}.log`),
      ...more,
    });
  /** @param {() => boolean} isTrue */
  const eventually = async (isTrue) => {
    const deadline = Date.now() + 8000;
    while (!isTrue() && Date.now() < deadline) await new Promise((done) => setTimeout(done, 20));
    expect(isTrue()).toBe(true);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'supervise-'));
    crashes = [];
    isDiskFull = false;
    supervisor = new Supervisor({
      onChange: (now) => {
        if (isDiskFull) throw new Error('ENOSPC');
        records = now;
      },
      onCrash: (crash) => crashes.push(crash),
    });
  });
  afterEach(async () => {
    await supervisor.close([['one', 'two']]);
    rmSync(folder, { recursive: true });
  });

  it('restarts a program that ended by itself', async () => {
    start('one', 'setInterval(() => {}, 1000)');
    supervisor.keepAlive('one');
    const before = supervisor.pid('one');
    supervisor.kill(['one']);
    await eventually(() => ![null, before].includes(supervisor.pid('one')));
    expect(crashes).toMatchObject([{ name: 'one', signal: 'SIGKILL', delayMs: 1000 }]);
    expect(isRunning(records.one)).toBe(true);
  });

  it('restarts a program later if its log cannot be opened', async () => {
    const logs = join(folder, 'logs');
    mkdirSync(logs);
    start('one', 'setInterval(() => {}, 1000)', { logFile: join(logs, 'one.log') });
    supervisor.keepAlive('one');
    rmSync(logs, { recursive: true });
    supervisor.kill(['one']);
    await eventually(() => crashes.length === 2);
    expect(crashes[1]).toMatchObject({ name: 'one', error: { code: 'ENOENT' }, delayMs: 2000 });
    expect(supervisor.pid('one')).toBeNull();
  });

  it('restarts a program even if its record cannot be written', async () => {
    start('one', 'setInterval(() => {}, 1000)');
    supervisor.keepAlive('one');
    const before = supervisor.pid('one');
    isDiskFull = true;
    supervisor.kill(['one']);
    await eventually(() => ![null, before].includes(supervisor.pid('one')));
  });

  it('does not restart a program without that option', async () => {
    start('one', 'process.exit(3)');
    expect(await supervisor.exited('one')).toMatchObject({ code: 3 });
    expect(crashes).toEqual([]);
    expect(records).toEqual({});
  });

  it('reports a program that cannot be started', async () => {
    start('one', '', { file: join(folder, 'missing') });
    expect(await supervisor.exited('one')).toMatchObject({ error: { code: 'ENOENT' } });
  });

  it('kills a program after its grace period', async () => {
    const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(1)";
    start('one', stubborn, { graceMs: 100 });
    await eventually(() => readFileSync(join(folder, 'one.log'), 'utf8') !== '');
    const exited = supervisor.exited('one');
    await supervisor.stop(['one']);
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
  });

  it('ends one group after another and starts nothing afterwards', async () => {
    /** @type {string[]} */
    const order = [];
    for (const name of ['one', 'two']) {
      start(name, 'setInterval(() => {}, 1000)');
      void supervisor.exited(name).then(() => order.push(name));
    }
    await supervisor.close([['two'], ['one']]);
    expect(order).toEqual(['two', 'one']);
    expect(() => start('one', '')).toThrow('closed');
  });
});

describe('a log above the size limit', () => {
  it('is renamed, and a new log starts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-'));
    const path = join(folder, 'api.log');
    writeFileSync(path, Buffer.alloc(21 * 1024 * 1024));
    trimLog(path);
    expect([statSync(path).size, statSync(`${path}.1`).size]).toEqual([0, 21 * 1024 * 1024]);
    rmSync(folder, { recursive: true });
  });

  it('stays if it cannot be copied, for example because the disk is full', () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-'));
    const path = join(folder, 'api.log');
    writeFileSync(path, Buffer.alloc(21 * 1024 * 1024));
    mkdirSync(`${path}.1`);
    trimLog(path);
    expect(statSync(path).size).toBe(21 * 1024 * 1024);
    rmSync(folder, { recursive: true });
  });
});
