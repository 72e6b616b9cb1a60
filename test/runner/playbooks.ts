import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { commandOf, commandsWith } from '../faults/support/processes.js';
import { buildInventory } from '../../src/inventories/ansible-inventory.js';
import { toEventRow } from '../../src/execution/runner/events.js';
import type { EventRow } from '../../src/runs/events/job-events.repository.js';
import type { PreparedRun } from '../../src/execution/runner/ansible-run.js';
import { type PlaybookRun, preparePlaybookRun } from '../../src/execution/runner/playbook-run.js';
import type { RunHandle, RunOptions, RunResult } from '../../src/execution/runner/run-options.js';
import { startRun } from '../../src/execution/runner/run-process.js';
import { listProcesses, readProcessEnvironment } from '../../src/execution/runner/process-table.js';
import {
  createWorkspace,
  removeDirectory,
  type Workspace,
} from '../../src/execution/runner/workspace.js';

/** Inventory of two hosts on this machine, one of them in a group. */
export const LOCAL_INVENTORY = await buildInventory(
  {
    variables:
      '{"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3", "colour": "all"}',
    groups: [{ id: 1, name: 'web', variables: 'colour: web' }],
    hosts: [
      { id: 1, name: 'alpha', variables: 'colour: alpha', enabled: true },
      { id: 2, name: 'beta', variables: '', enabled: true },
    ],
    groupHosts: [{ groupId: 1, hostId: 2 }],
    groupChildren: [],
  },
  { hostvars: true, towervars: true },
);

/** Folder of one test file, for projects, workspaces and repositories. */
export interface TestFolder {
  readonly dir: string;
  readonly runsDir: string;
  /** Writes files into a folder and returns its path. */
  write(folder: string, files: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

export async function createTestFolder(): Promise<TestFolder> {
  const dir = await mkdtemp(join(tmpdir(), 'runner-test-'));
  return {
    dir,
    runsDir: join(dir, 'runs'),
    write: async (folder, files) => {
      for (const [name, content] of Object.entries(files)) {
        const path = join(dir, folder, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      }
      return join(dir, folder);
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Started playbook with its output so far. */
export interface StartedPlaybook {
  readonly handle: RunHandle;
  readonly workspace: Workspace;
  readonly events: EventRow[];
}

let nextJobId = 1000;

/** Writes the project and the workspace of a playbook that runs on {@link LOCAL_INVENTORY}. */
export async function preparePlaybook(
  folder: TestFolder,
  playbook: string,
  settings: Partial<PlaybookRun> = {},
): Promise<{ prepared: PreparedRun; workspace: Workspace }> {
  const jobId = (nextJobId += 1);
  const projectDir = await folder.write(`project-${jobId}`, { 'site.yml': playbook });
  const workspace = await createWorkspace(folder.runsDir, jobId, 1);
  const prepared = await preparePlaybookRun(
    {
      jobId,
      attempt: 1,
      projectDir,
      playbook: 'site.yml',
      inventory: LOCAL_INVENTORY,
      extraVars: {},
      jobType: 'run',
      ...settings,
    },
    workspace,
  );
  return { prepared, workspace };
}

/** Prepares a playbook with {@link preparePlaybook} and starts it. */
export async function startPlaybook(
  folder: TestFolder,
  playbook: string,
  settings: Partial<PlaybookRun> = {},
  options: Partial<RunOptions> = {},
): Promise<StartedPlaybook> {
  const { prepared, workspace } = await preparePlaybook(folder, playbook, settings);
  const events: EventRow[] = [];
  const onEvents: RunOptions['onEvents'] = (batch) => void events.push(...batch.map(toEventRow));
  return { handle: startRun(prepared, { onEvents, ...options }), workspace, events };
}

/** Runs a playbook to its end and removes its workspace. */
export async function runPlaybook(
  folder: TestFolder,
  playbook: string,
  settings: Partial<PlaybookRun> = {},
  options: Partial<RunOptions> = {},
): Promise<{ result: RunResult; events: EventRow[] }> {
  const { handle, workspace, events } = await startPlaybook(folder, playbook, settings, options);
  const result = await handle.wait();
  await removeDirectory(workspace.dir);
  return { result, events };
}

/** Returns the pids of the living processes that carry the mark of a run. */
export async function markedPids(mark: string): Promise<number[]> {
  const pids: number[] = [];
  for (const { pid } of await listProcesses()) {
    if ((await readProcessEnvironment(pid)).includes(`AUTOMATION_CONTROLLER_RUN=${mark}`))
      pids.push(pid);
  }
  return pids;
}

/** Returns the pids of the living processes started with exactly these arguments. */
export async function pidsOf(...args: string[]): Promise<number[]> {
  const wanted = `${args.join('\0')}\0`;
  const found = await commandsWith(wanted);
  return found.filter((pid) => commandOf(pid) === wanted);
}

/** Ansible starts in a second on an idle machine, and takes many times as long on a busy one. */
const START_MS = 60_000;

/** Waits until `check` returns something other than null, false or an empty list. */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = START_MS): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await check();
    const isThere = Array.isArray(value) ? value.length > 0 : Boolean(value);
    if (isThere) return value;
    if (Date.now() > end) throw new Error('did not happen in time');
    await sleep(50);
  }
}
