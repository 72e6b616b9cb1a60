/**
 * Budget: 25 s, because podman starts and removes containers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { SandboxService } from '../../src/execution/sandbox/sandbox.service.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';
import { sandboxIn } from './sandboxes.js';
import { createTestFolder, eventually, type TestFolder } from './playbooks.js';

/** Id that no process has. */
const NOBODY = 2 ** 22 + 1;

/** Containers are removed even if both the worker and the guard of the container were killed. */
(MAY_USE_CONTAINERS ? describe : describe.skip)('containers of dead workers', () => {
  let folder: TestFolder;
  let containers: Containers;
  let sandbox: SandboxService;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await createTestFolder();
    containers = await Containers.prepare();
    sandbox = await sandboxIn(folder.dir, containers.settings);
  });
  afterAll(async () => {
    await containers.remove();
    for (const child of children) child.kill('SIGKILL');
    await folder.remove();
  });

  /**
   * Starts a container as a run is started.
   * @param rename changes its name and label
   */
  async function start(rename: (text: string) => string = (text) => text): Promise<string> {
    const root = join(folder.dir, `root-${children.length}`);
    await mkdir(root);
    const { file, args, environment } = await sandbox.wrap(
      { file: 'sleep', args: ['60'], environment: {}, cwd: '/tmp' },
      { root, binds: [], home: '/tmp', name: `job-${children.length}`, hasNetwork: true },
    );
    const own = args.find((arg) => arg.startsWith('automation-')) ?? '';
    const [, key = ''] = own.split('-');
    const renamed = args.map((arg) =>
      /^(automation-|--name=|--label=)/.test(arg)
        ? rename(arg.replace(key, '@')).replace('@', key)
        : arg,
    );
    const child = spawn(file, renamed, {
      env: environment,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    const name = renamed.find((arg) => arg.startsWith('automation-')) ?? '';
    await eventually(async () => (await names()).includes(name), 30_000);
    return name;
  }
  const names = async (): Promise<string[]> =>
    (await containers.ask('ps', '--all', '--format', '{{.Names}}')).split('\n').filter(Boolean);

  it('are removed, and no others', async () => {
    const living = await start();
    await start((text) => text.replace(String(process.pid), String(NOBODY)));
    const elsewhere = await start((text) =>
      text.replace('@', 'e15e').replace(String(process.pid), String(NOBODY)),
    );
    expect(await sandbox.sweep()).toBe(1);
    expect((await names()).sort()).toEqual([living, elsewhere].sort());
  });

  it('end when their guard process receives SIGTERM', async () => {
    const name = await start();
    const child = children.at(-1)!;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    expect(await names()).not.toContain(name);
  });
});
