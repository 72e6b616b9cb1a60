import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { isRunning, recordOf } from '../processes/identity.mjs';
import { endMarkedProcesses } from '../processes/stray.mjs';
import { RUN_MARK } from '../services/throwaway.mjs';
import { startsProduct } from './test-run.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const [testRun, commands] = ['setup/test-run.mjs', 'processes/run.mjs'].map((name) =>
  JSON.stringify(resolve(root, 'scripts', name)),
);

/** Endless work with a command of `run` and an unregistered process. */
const ENDLESS = `
  import { spawn } from 'node:child_process';
  import { withThrowawayServices } from ${testRun};
  import { run } from ${commands};
  await withThrowawayServices(${JSON.stringify(root)}, async ({ DATA_DIR }) => {
    const stray = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const { ${RUN_MARK}: mark } = process.env;
    const known = (pid) => process.send({ folder: DATA_DIR, mark, pids: [stray.pid, pid] });
    await Promise.allSettled([run('sleep', ['600'], { onStart: known })]);
    setInterval(() => {}, 1000);
    await new Promise(() => {});
  });
`;

it('the programs of the product are bundled for all tests that start them', () => {
  expect(startsProduct([])).toBe(true);
  const starting = ['src', 'test'].flatMap((folder) =>
    readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith('spec.ts'))
      .filter((path) => {
        const text = readFileSync(resolve(root, path), 'utf8');
        return /faults\/support\/cluster|'dist', '(?:main|worker|cli)\.js'/.test(text);
      }),
  );
  expect(starting).toContain('test/security/run-sandbox.e2e-spec.ts');
  expect(starting.filter((path) => !startsProduct([path]))).toEqual([]);
});

describe('a run with temporary services', () => {
  /** @type {import('node:child_process').ChildProcess} */
  let child;
  /** @type {string} */
  let mark;

  // If the run did not end, no other run would end its processes.
  afterEach(async () => {
    child.kill('SIGKILL');
    await endMarkedProcesses(RUN_MARK, mark);
  });

  it.each([
    { signal: /** @type {const} */ ('SIGTERM'), code: 143 },
    { signal: /** @type {const} */ ('SIGINT'), code: 130 },
  ])(
    'ends on $signal with all its processes',
    async ({ signal, code }) => {
      child = spawn(process.execPath, ['--input-type=module', '--eval', ENDLESS], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      const exited = once(child, 'exit');
      const [{ folder, pids, ...started }] = await once(child, 'message');
      mark = started.mark;
      const records = pids.map(recordOf);
      child.kill(signal);
      expect(await exited).toEqual([code, null]);
      expect(records.map(isRunning)).toEqual([false, false]);
      expect(existsSync(resolve(folder, '..'))).toBe(false);
    },
    60_000,
  );
});
