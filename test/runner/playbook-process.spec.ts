/**
 * Budget: 45 s, because each test starts Ansible, and processes are waited for until they are killed.
 */
import { execFile, spawn } from 'node:child_process';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { endMarked, endRun, listRuns } from '../../src/execution/runner/orphans.js';
import { listProcesses } from '../../src/execution/runner/process-table.js';
import { writeRunMark } from '../../src/execution/runner/run-mark.js';
import { removeDirectory, type Workspace } from '../../src/execution/runner/workspace.js';
import { processorTime } from '../support/event-loop.js';
import {
  createTestFolder,
  eventually,
  markedPids,
  pidsOf,
  preparePlaybook,
  runPlaybook,
  startPlaybook,
  type StartedPlaybook,
  type TestFolder,
} from './playbooks.js';

const execute = promisify(execFile);

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(async () => {
  // A failed expectation must not leave a playbook waiting for hours.
  for (const { runId } of await listRuns(folder.runsDir))
    await endRun(runId, undefined, folder.runsDir, 200);
  await folder.remove();
});

/** Returns a task that waits in the foreground and leaves another process waiting in the background. */
function waiting(seconds: number): string {
  return `- hosts: alpha\n  gather_facts: false\n  tasks:\n    - shell: "sleep ${seconds} & sleep ${seconds}"\n`;
}

async function startWaiting(
  seconds: number,
  settings = {},
  options = {},
): Promise<StartedPlaybook> {
  const run = await startPlaybook(folder, waiting(seconds), settings, options);
  await eventually(async () => (await pidsOf('sleep', String(seconds))).length === 2);
  return run;
}

describe('ending a run', () => {
  it('by cancellation leaves no process, including children of tasks', async () => {
    const run = await startWaiting(7001);
    run.handle.cancel();
    run.handle.cancel();
    expect(await run.handle.wait()).toMatchObject({ rc: 254, status: 'canceled' });
    expect(await markedPids(run.workspace.mark)).toEqual([]);
    expect(await pidsOf('sleep', '7001')).toEqual([]);
    expect(run.events.at(-1)?.event).toBe('runner_on_start');
    await removeDirectory(run.workspace.dir);
  });

  it('by an abort signal before the start', async () => {
    const early = await runPlaybook(folder, waiting(7002), {}, { signal: AbortSignal.abort() });
    expect(early.result).toMatchObject({ rc: null, status: 'canceled' });
  });

  it('by its timeout', async () => {
    const { result } = await runPlaybook(folder, waiting(7003), { timeoutSeconds: 2 });
    expect(result).toMatchObject({ status: 'timeout' });
    expect(await pidsOf('sleep', '7003')).toEqual([]);
  });

  it('by its idle timeout', async () => {
    const { result } = await runPlaybook(folder, waiting(7004), { idleSeconds: 2 });
    expect(result).toMatchObject({ status: 'idle' });
    expect(await pidsOf('sleep', '7004')).toEqual([]);
  });

  it('by an abort signal after the start, and by SIGKILL if SIGTERM has no effect', async () => {
    const controller = new AbortController();
    const options = { killGraceMs: 300, signal: controller.signal };
    const run = await startWaiting(7005, {}, options);
    process.kill(run.handle.pid!, 'SIGSTOP');
    controller.abort();
    expect(await run.handle.wait()).toMatchObject({ rc: null, status: 'canceled' });
    expect(await markedPids(run.workspace.mark)).toEqual([]);
    expect(await pidsOf('sleep', '7005')).toEqual([]);
  });

  it('is a failure if the process of the playbook is killed, even if the runner exits with 0', async () => {
    const run = await startWaiting(7006);
    const [playbook] = (await listProcesses()).filter(
      (entry) => entry.parentPid === run.handle.pid,
    );
    process.kill(playbook!.pid, 'SIGKILL');
    expect(await run.handle.wait()).toMatchObject({ status: 'failed' });
    expect(await pidsOf('sleep', '7006')).toEqual([]);
  });
});

describe('orphans', () => {
  it('are found and terminated after ansible-runner was killed or while it runs, and no other processes', async () => {
    const lost = await startUnattended(7011);
    const other = await startWaiting(7012);
    process.kill(lost.pid, 'SIGKILL');
    const { jobId, mark } = lost.workspace;
    await eventually(async () => !(await markedPids(mark)).includes(lost.pid));
    const left = await markedPids(mark);
    expect(left.length).toBeGreaterThan(3);
    const known = (await listRuns(folder.runsDir)).find((run) => run.runId === jobId);
    expect(known?.mark).toMatchObject({ pid: lost.pid, attempt: 1 });
    expect(await endRun(jobId, 2, folder.runsDir)).toBe(0);
    expect(await endRun(jobId, 1, folder.dir)).toBe(0);
    expect(await pidsOf('sleep', '7011')).toHaveLength(2);

    const ended = await endRun(jobId, 1, folder.runsDir, 500);
    // Processes that end because their terminal is gone may end before they are counted.
    expect(left.length - ended).toBeGreaterThanOrEqual(0);
    expect(ended).toBeGreaterThan(2);
    expect(await markedPids(mark)).toEqual([]);
    expect(await pidsOf('sleep', '7011')).toEqual([]);
    expect(await pidsOf('sleep', '7012')).toHaveLength(2);

    // The runner of the other run still runs, as that of a dead worker.
    expect(await endRun(other.workspace.jobId, undefined, folder.runsDir)).toBeGreaterThan(3);
    expect(await pidsOf('sleep', '7012')).toEqual([]);
    expect(['error', 'failed']).toContain((await other.handle.wait()).status);
  });

  it('without the marked environment are found by the recorded process', async () => {
    const lost = await startUnattended(7014, { AUTOMATION_CONTROLLER_RUN: '' });
    expect(await markedPids(lost.workspace.mark)).toEqual([]);
    expect(await endRun(lost.workspace.jobId, 1, folder.runsDir, 500)).toBeGreaterThan(3);
    expect(await pidsOf('sleep', '7014')).toEqual([]);
  });

  it('are terminated even if their environment is empty while a program loads', async () => {
    const sleeper = `sleep 0.06; exec env AUTOMATION_CONTROLLER_RUN=9001 sleep 7015`;
    spawnMarked(`trap 'env -i sh -c "${sleeper}" & exit' TERM; sleep 7016`);
    await eventually(async () => (await pidsOf('sleep', '7016')).length === 1);
    expect(await endMarked('9001', 2000)).toBeGreaterThan(2);
    expect(await pidsOf('sleep', '7015')).toEqual([]);
  });

  it('are killed even if this process was suspended longer than the grace period', async () => {
    spawnMarked(`trap '' TERM; sleep 7017`);
    await eventually(async () => (await pidsOf('sleep', '7017')).length === 1);
    const ended = endMarked('9001', 500);
    await sleep(200);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6000);
    expect(await ended).toBe(2);
    expect(await pidsOf('sleep', '7017')).toEqual([]);
  });

  it('are none for an unknown run or folder', async () => {
    expect(await endRun(424242, undefined, folder.runsDir)).toBe(0);
    expect(await endRun(424242, undefined, '/nowhere')).toBe(0);
    expect(await listRuns('/nowhere')).toEqual([]);
  });

  /** Starts a shell with the mark of a run. */
  function spawnMarked(script: string): void {
    spawn('sh', ['-c', script], {
      env: { PATH: process.env.PATH, AUTOMATION_CONTROLLER_RUN: '9001' },
      stdio: 'ignore',
    });
  }

  /** Starts a run without a worker that follows it, as after the death of its worker. */
  async function startUnattended(
    seconds: number,
    env: Record<string, string> = {},
  ): Promise<{ pid: number; workspace: Workspace }> {
    const { prepared, workspace } = await preparePlaybook(folder, waiting(seconds));
    const child = spawn('ansible-runner', prepared.args, {
      env: { ...prepared.environment, ...env },
      detached: true,
      stdio: 'ignore',
    });
    const pid = child.pid!;
    child.unref();
    await writeRunMark(workspace, pid);
    await eventually(async () => (await pidsOf('sleep', String(seconds))).length === 2);
    return { pid, workspace };
  }
});

describe('output', () => {
  it('of 20 MB arrives complete in limited batches without blocking timers', async () => {
    const playbook = `- hosts: alpha
  gather_facts: false
  tasks:
    - {name: many, command: "seq {{ item }} {{ item + 40000 }}", loop: "{{ range(100000, 130001, 10000) | list }}"}
    - {name: huge, debug: {msg: "{{ 'x' * 20000000 }}"}}
    - {name: after, debug: {msg: done}}
`;
    // Measured by a timer: a check at every iteration of the event loop would keep a core busy for the whole
    // run.
    let longestWork = 0;
    let last = processorTime();
    const ticker = setInterval(() => {
      const now = processorTime();
      longestWork = Math.max(longestWork, now - last);
      last = now;
    }, 10);
    const { result, events } = await runPlaybook(folder, playbook);
    clearInterval(ticker);
    expect(result.status).toBe('successful');
    const huge = events.find((row) => row.event === 'runner_on_ok' && row.task === 'huge');
    expect(huge?.stdout).toContain('cut by the controller');
    expect(huge?.stdout.length).toBeLessThan(300_000);
    expect(events.at(-1)?.event).toBe('playbook_on_stats');
    expect(events.map((row) => row.counter)).toEqual(events.map((_, index) => index + 1));
    expect(longestWork).toBeLessThan(250);
  });

  it('waits for a slow consumer without loss', async () => {
    const playbook = `- hosts: all
  gather_facts: false
  tasks:
    - {debug: {msg: "{{ item }} {{ 'y' * 2000 }}"}, loop: "{{ range(150) | list }}"}
`;
    let inFlight = 0;
    let most = 0;
    const counters: number[] = [];
    const { result } = await runPlaybook(
      folder,
      playbook,
      {},
      {
        batchSize: 10,
        maxBatchesInFlight: 2,
        onEvents: async (batch) => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          counters.push(...batch.map((event) => event.counter));
          await sleep(20);
          inFlight -= 1;
        },
      },
    );
    expect(result.status).toBe('successful');
    expect(counters).toEqual(counters.map((_, index) => index + 1));
    expect(counters.length).toBeGreaterThan(300);
    // One chunk of the pipe may contain a few batches more than requested.
    expect(most).toBeLessThan(30);
  });
});

describe('secrets of a run', () => {
  it('are entered at prompts, and deleted from disk after the playbook has started', async () => {
    const key = join(folder.dir, 'key');
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-f', key]);
    const authority = join(folder.dir, 'authority');
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', authority]);
    await execute('ssh-keygen', ['-q', '-s', authority, '-I', 'run', '-n', 'root', `${key}.pub`]);
    const passwordFile = join(folder.dir, 'vault-password');
    await writeFile(passwordFile, 'vault-word');
    const vaultId = `prod@${passwordFile}`;
    const { stdout: encrypted } = await execute('ansible-vault', [
      'encrypt_string',
      '--vault-id',
      vaultId,
      '--name',
      'locked',
      'opened value',
    ]);
    const indented = encrypted.replace(/^/gm, '    ').trimEnd();
    const playbook = `- hosts: alpha
  gather_facts: false
  vars:
${indented}
  tasks:
    - debug: {msg: "{{ locked }}"}
    - command: ssh-add -l
    - debug: {msg: "{{ ansible_become_password | default('none') }} {{ lookup('env', 'CLOUD') }} {{ lookup('env', 'SECRET_KEY') }}."}
    - command: sleep 1
`;
    process.env['SECRET_KEY'] = 'of-the-worker';
    const run = await startPlaybook(folder, playbook, {
      sshKeyData: await readFile(key, 'utf8'),
      sshKeyUnlock: 'open sesame',
      sshCertificate: await readFile(`${key}-cert.pub`, 'utf8'),
      vaultPasswords: [{ id: 'prod', password: 'vault-word' }],
      passwords: { become: 'become-word', ssh: 'ssh-word' },
      env: { CLOUD: 'cloud-word' },
    });
    delete process.env['SECRET_KEY'];
    await eventually(() => run.events.some((row) => row.event === 'runner_on_ok'));
    const files = await readdir(run.workspace.envDir);
    expect(files.sort()).toEqual(['cmdline', 'extravars', 'inventory.json', 'settings']);
    expect(await run.handle.wait()).toMatchObject({ status: 'successful' });
    const shown = run.events.map((row) => row.stdout).join('\n');
    expect(shown).toContain('opened value');
    expect(shown).toContain('none cloud-word .');
    const agent = run.events.find((row) => JSON.stringify(row.eventData).includes('ED25519'));
    expect(JSON.stringify(agent?.eventData)).toContain('(ED25519-CERT)');
    await removeDirectory(run.workspace.dir);
    await expect(access(run.workspace.dir)).rejects.toThrow('ENOENT');
  });
});
