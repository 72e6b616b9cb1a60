/**
 * Budget: 45 s, because each playbook starts Ansible, in two kinds of sandboxes.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { SandboxService } from '../../src/execution/sandbox/sandbox.service.js';
import { sandboxOfRun } from '../../src/execution/sandbox/run-sandbox.js';
import { toEventRow } from '../../src/execution/runner/events.js';
import type { EventRow } from '../../src/runs/events/job-events.repository.js';
import { preparePlaybookRun, type PlaybookRun } from '../../src/execution/runner/playbook-run.js';
import { startRun } from '../../src/execution/runner/run-process.js';
import { createWorkspace, removeDirectory } from '../../src/execution/runner/workspace.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';
import { processesWith } from '../faults/support/processes.js';
import { sandboxIn } from './sandboxes.js';
import {
  createTestFolder,
  eventually,
  LOCAL_INVENTORY,
  type StartedPlaybook,
  type TestFolder,
} from './playbooks.js';
import { startSshServer } from './ssh-server.js';
import { play } from '../support/runs.js';

const execute = promisify(execFile);

let folder: TestFolder;
let sandbox: SandboxService;
let containers: Containers | undefined;

async function begin(kind: string): Promise<void> {
  folder = await createTestFolder();
  if (kind === 'container') containers = await Containers.prepare();
  sandbox = await sandboxIn(folder.dir, containers?.settings);
}

async function end(): Promise<void> {
  await containers?.remove();
  containers = undefined;
  await folder.remove();
}

let nextJobId = 5000;

async function start(
  files: Record<string, string>,
  settings: Partial<PlaybookRun> = {},
): Promise<StartedPlaybook> {
  const jobId = (nextJobId += 1);
  const projectDir = await folder.write(`project-${jobId}`, files);
  const workspace = await createWorkspace(folder.runsDir, jobId, 1, await sandbox.innerDir());
  const description = {
    ...{ jobId, attempt: 1, projectDir, copyProject: true, playbook: 'site.yml' },
    ...{ inventory: LOCAL_INVENTORY, extraVars: {}, jobType: 'run' as const, limit: 'alpha' },
    ...settings,
  };
  const prepared = await preparePlaybookRun(description, workspace);
  const spec = await sandboxOfRun(workspace, [], true);
  const events: EventRow[] = [];
  const handle = startRun(prepared, {
    onEvents: (batch) => void events.push(...batch.map(toEventRow)),
    wrap: (command) => sandbox.wrap(command, spec),
  });
  return { handle, workspace, events };
}

async function run(files: Record<string, string>, settings: Partial<PlaybookRun> = {}) {
  const { handle, workspace, events } = await start(files, settings);
  const result = await handle.wait();
  await removeDirectory(workspace.root);
  const shown = events.map(({ stdout }) => stdout).join('\n');
  return { result, events, shown };
}

/** Key with a passphrase, and variable of a vault, for the runs of all kinds. */
let made: Promise<{ sshKeyData: string; encrypted: string }> | undefined;
const secrets = (): typeof made & object =>
  (made ??= (async () => {
    const key = join(folder.dir, 'key');
    await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-f', key]);
    await folder.write('.', { 'vault-password': 'vault-word' });
    const { stdout } = await execute('ansible-vault', [
      ...['encrypt_string', '--vault-id', `prod@${join(folder.dir, 'vault-password')}`],
      ...['--name', 'locked', 'opened value'],
    ]);
    const encrypted = stdout.replace(/^/gm, '    ').trimEnd();
    return { sshKeyData: await readFile(key, 'utf8'), encrypted };
  })());

const KINDS = ['bubblewrap', ...(MAY_USE_CONTAINERS ? ['container'] : [])];

describe.each(KINDS)('a playbook isolated by %s', (kind) => {
  beforeAll(() => begin(kind));
  afterAll(end);

  it('uses facts, asynchronous tasks, roles, collections, vaults and keys, and no other account of the worker', async () => {
    const { sshKeyData, encrypted } = await secrets();
    const { result, shown, events } = await run(
      {
        'site.yml': `- hosts: all
  roles: [greet, our.tools.greet]
  vars:
${encrypted}
  tasks:
    - {command: sleep 0.2, async: 20, poll: 1}
    - debug: {msg: "{{ ansible_user_id }} on {{ ansible_hostname }} in {{ playbook_dir }}"}
    - {copy: {content: x, dest: "{{ playbook_dir }}/written"}}
    - {command: git --version}
    - {name: su, command: id -u, become: true, become_method: su, ignore_errors: true}
    - debug: {msg: "{{ locked }} {{ lookup('env', 'CLOUD') }}"}
    - {command: ssh-add -l, register: agent}
    - debug: {var: agent.stdout}
`,
        'roles/greet/tasks/main.yml': '- debug: {msg: role beside it}\n',
        'collections/ansible_collections/our/tools/roles/greet/tasks/main.yml':
          '- debug: {msg: collection beside it}\n',
      },
      {
        ...{ sshKeyData, sshKeyUnlock: 'open sesame', env: { CLOUD: 'cloud-word' } },
        vaultPasswords: [{ id: 'prod', password: 'vault-word' }],
      },
    );
    expect(shown).toContain('role beside it');
    expect(shown).toContain('collection beside it');
    expect(shown).toMatch(/runner on job-\d+ in \/runner\/project/);
    expect(shown).toContain('opened value cloud-word');
    expect(shown).toContain('ED25519');
    expect(result).toMatchObject({ rc: 0, status: 'successful', stderrTail: '' });
    const failed = events.filter(({ event }) => event === 'runner_on_failed');
    expect(failed.map(({ task }) => task)).toEqual(['su']);
  });

  it('ends when it is canceled, with that status and without remaining processes', async () => {
    const started = await start({ 'site.yml': play('{shell: "sleep 7881.5 & sleep 7881.5"}') });
    await eventually(async () => (await processesWith('sleep\x007881.5')).length === 2, 30_000);
    started.handle.cancel();
    expect(await started.handle.wait()).toMatchObject({ rc: 254, status: 'canceled' });
    expect(await processesWith('7881.5')).toEqual([]);
  });

  it('opens a connection with the key of its agent, which ends with it', async () => {
    const server = await startSshServer(folder);
    const variables = {
      ...{ ansible_host: '127.0.0.1', ansible_port: server.port, ansible_user: server.user },
      ...{ ansible_python_interpreter: '/usr/bin/python3', ansible_connection: 'ssh' },
    };
    const inventory = { all: { hosts: ['remote'] }, _meta: { hostvars: { remote: variables } } };
    try {
      const { result, shown } = await run(
        { 'site.yml': play('{command: echo one}', '{command: echo two}', 'ping:') },
        { inventory, limit: 'remote', sshKeyData: await readFile(server.key, 'utf8') },
      );
      expect({ shown, ...result }).toMatchObject({ status: 'successful' });
      expect(server.log().match(/Accepted publickey/g)).toHaveLength(1);
      expect(await processesWith('/runner/cp/')).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  // Bubblewrap passes on the pipe itself, which playbook-process.spec.ts fills. A container engine copies it.
  if (IS_DEEP || kind === 'container') {
    it('writes 5 MB of output', async () => {
      const { result, events } = await run({
        'site.yml': play(
          `debug: {msg: "{{ 'x' * 5000000 }}"}`,
          '{name: after, debug: {msg: done}}',
        ),
      });
      expect(result.status).toBe('successful');
      expect(events.map(({ counter }) => counter)).toEqual(events.map((_, index) => index + 1));
      expect(events.some(({ task }) => task === 'after')).toBe(true);
    });
  }

  // A run that exceeds its timeout ends like a canceled run. playbook-process.spec.ts tests both.
  if (IS_DEEP) {
    it('ends after its timeout', async () => {
      const { result } = await run(
        { 'site.yml': play('{command: sleep 7882.5}') },
        { timeoutSeconds: 4 },
      );
      expect(result.status).toBe('timeout');
      expect(await processesWith('7882.5')).toEqual([]);
    });
  }
});
