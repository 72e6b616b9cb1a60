import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { Cluster } from '../faults/support/cluster.js';
import { processesWith, type Program } from '../faults/support/processes.js';
import { Containers } from '../support/containers.js';
import { eventually } from '../support/eventually.js';
import { CanaryFiles } from './canary-files.js';
import { WORKERS } from './worker-kinds.js';
import { ATTACK, CANARY, FILES, FORKS, MEMORY } from './hostile-programs.js';

const play = (...tasks: string[]): string =>
  [
    '- hosts: all',
    '  gather_facts: false',
    '  tasks:',
    ...tasks.map((task) => `    - ${task}`),
  ].join('\n');

const stat = (name: string, value: string): string =>
  `set_stats: {data: {${name}: "{{ ${value} }}"}}`;

const PLAYBOOKS = {
  'attack.yml': play(
    '{command: "python3 attack.py {{ target }}", register: out}',
    stat('found', 'out.stdout | from_json'),
  ),
  'attack.py': ATTACK,
  'forks.yml': play('{command: "python3 forks.py", register: out}', stat('started', 'out.stdout')),
  'forks.py': FORKS,
  'files.yml': play('{command: "python3 files.py", register: out}', stat('opened', 'out.stdout')),
  'files.py': FILES,
  'memory.yml': play('{command: "python3 memory.py {{ megabytes }} {{ forks }}"}'),
  'memory.py': MEMORY,
  'site.yml': play('debug: {msg: hello}'),
  'daemon.yml': play(
    '{shell: "setsid env -i sleep {{ seconds }} > /dev/null 2>&1 &"}',
    'pause: {seconds: "{{ wait }}"}',
  ),
  'leaves.yml': play(
    '{shell: "echo x > /tmp/{{ name }}; echo x > /var/tmp/{{ name }}; echo x > /dev/shm/{{ name }}"}',
    '{file: {src: "{{ secret }}", dest: "{{ ansible_env_dir }}/job_events/9000-link.json", state: link, force: true}}',
    '{file: {src: "{{ secret }}", dest: "/runner/env/passwords", state: link, force: true}}',
  ),
  'full.yml': play(
    '{shell: "head -c 80000000 /dev/zero > /tmp/full", register: out, ignore_errors: true}',
    stat('said', 'out.stderr'),
  ),
  'many.yml': play(
    '{shell: "cd /runner/tmp; for n in 1 2 3 4 5; do head -c 90000000 /dev/zero > $n; done; sleep 60"}',
  ),
  'huge.yml': play(
    '{shell: "head -c 300000000 /dev/zero > /runner/tmp/huge", ignore_errors: true}',
  ),
};

const EVENT = JSON.stringify({
  uuid: CANARY,
  counter: 9000,
  event: 'verbose',
  stdout: CANARY,
  created: '2026-01-01T00:00:00',
});

/** The kernel ends them with their namespace: the time is that of looking, on a busy machine. */
const GONE_MS = 1000;
/** Ansible starts in a second where it is alone, and takes many times as long on a busy machine. */
const START_MS = 60_000;
describe.each(WORKERS)('a run of a worker that is $account, by $kind', ({ uid, kind }) => {
  let cluster: Cluster;
  let containers: Containers | undefined;
  let worker: Program;
  let data: string;
  let canaries: CanaryFiles;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS, ...(uid === undefined ? {} : { uid }) });
    canaries = await CanaryFiles.plant(cluster);
    ({ data } = canaries);
    await writeFile(join(data, 'event'), EVENT, { mode: 0o644 });
    if (kind === 'container') containers = await Containers.prepare();
    worker = await cluster.worker({
      ...{ JOB_PROCESSES: '200', JOB_FILE_BYTES: '100000000', JOB_OPEN_FILES: '300' },
      ...{ JOB_MEMORY_BYTES: '600000000', JOB_TMP_BYTES: '50000000', JOB_DISK_BYTES: '300000000' },
      ...containers?.settings,
    });
  }, 90_000);

  afterAll(async () => {
    await cluster.stop();
    await containers?.remove();
  });

  async function run(playbook: string, variables: object = {}) {
    const [id] = (await cluster.addJobs(1, { playbook, status: 'new' })) as [number];
    await cluster.rows(
      `UPDATE unified_jobs SET extra_vars = $2, status = 'pending' WHERE id = $1`,
      [id, JSON.stringify(variables)],
    );
    cluster.wake();
    return id;
  }

  async function attack(pid: number | undefined) {
    const id = await run('attack.yml', { target: await canaries.target(pid) });
    const job = await cluster.becomes(id, 'successful', 40_000);
    return job as unknown as { artifacts: { found: string[] }; isolation: string };
  }

  it('finds nothing', async () => {
    const { artifacts, isolation } = await attack(worker.child.pid);
    expect(isolation).toBe(kind);
    // Root's engine makes no user namespace; without a capability it is nobody in this one, too.
    expect(artifacts.found).toEqual(kind === 'container' ? ['namespace user'] : []);
  });

  it('may start so many processes, and harms nobody else', async () => {
    const bomb = await run('forks.yml');
    const other = await run('site.yml');
    await cluster.becomes(other, 'successful', 40_000);
    const job = await cluster.becomes(bomb, 'successful', 40_000);
    const { started } = (job as unknown as { artifacts: { started: string } }).artifacts;
    expect(Number(started)).toBeGreaterThan(50);
    expect(Number(started)).toBeLessThan(200);
  });

  it('may open so many files', async () => {
    const job = await cluster.becomes(await run('files.yml'), 'successful', 40_000);
    const { opened } = (job as unknown as { artifacts: { opened: string } }).artifacts;
    expect(Number(opened)).toBeGreaterThan(250);
    expect(Number(opened)).toBeLessThan(300);
  });

  it('ends when it takes too much memory, and says why', async () => {
    const id = await run('memory.yml', { megabytes: 2000, forks: 0 });
    const { job_explanation: why } = await cluster.becomes(id, 'failed', 40_000);
    expect(why).toContain('more than 600000000 bytes of memory (JOB_MEMORY_BYTES)');
    expect(await processesWith('memory.py')).toEqual([]);
  });

  it('may have many processes that share their memory', async () => {
    const id = await run('memory.yml', { megabytes: 100, forks: 15 });
    await cluster.becomes(id, 'successful', 40_000);
  });

  const daemons = (seconds: number) => processesWith(`sleep\0${seconds}`);

  it('ends with its daemons', async () => {
    const id = await run('daemon.yml', { seconds: 7771.5, wait: 5 });
    await eventually(async () => expect(await daemons(7771.5)).toHaveLength(1), START_MS);
    await cluster.becomes(id, 'successful', 40_000);
    await eventually(async () => expect(await daemons(7771.5)).toEqual([]), GONE_MS);
  }, 120_000);

  it('leaves nothing on the machine, and no link the worker follows', async () => {
    const name = `left-by-a-run-${process.pid}`;
    const id = await run('leaves.yml', {
      name,
      secret: join(data, 'event'),
      ansible_env_dir: '/runner/artifacts/run',
    });
    await cluster.becomes(id, 'successful', 40_000);
    const events = await cluster.rows<{ stdout: string }>(
      'SELECT stdout FROM job_events WHERE job_id = $1',
      [id],
    );
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify(events.map(({ stdout }) => stdout))).not.toContain(CANARY);
    for (const folder of [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']) {
      expect(existsSync(join(folder, name))).toBe(false);
    }
    expect(await readdir(join(data, 'workspaces'))).toEqual([]);
    expect(existsSync(join(data, 'event'))).toBe(true);
  });

  it('writes no file beyond the limit', async () => {
    const id = await run('huge.yml');
    await cluster.becomes(id, 'successful', 40_000);
    const [task] = await cluster.rows<{ rc: number }>(
      `SELECT (event_data -> 'res' ->> 'rc')::int AS rc FROM job_events
       WHERE job_id = $1 AND event = 'runner_on_failed'`,
      [id],
    );
    expect(task?.rc).toBeGreaterThan(0);
  });

  it('finds an end of what it may put into /tmp', async () => {
    const job = await cluster.becomes(await run('full.yml'), 'successful', 40_000);
    const { said } = (job as unknown as { artifacts: { said: string } }).artifacts;
    expect(said).toContain('No space left on device');
  });

  it('ends when its folder holds too much, and says why', async () => {
    const { job_explanation: why } = await cluster.becomes(await run('many.yml'), 'failed', 40_000);
    expect(why).toContain('(JOB_DISK_BYTES)');
  });

  it('ends with its worker, daemons and all', async () => {
    const id = await run('daemon.yml', { seconds: 7772.5, wait: 60 });
    await eventually(async () => expect(await daemons(7772.5)).toHaveLength(1), START_MS);
    worker.child.kill('SIGKILL');
    await worker.ended;
    await eventually(async () => expect(await daemons(7772.5)).toEqual([]), GONE_MS);
    worker = await cluster.worker({ JOB_ISOLATION: 'none' });
    await cluster.becomes(id, 'failed', 20_000);
  }, 120_000);

  // `nobody` has no home, where Ansible would put its modules.
  if (uid !== undefined || kind === 'container') return;

  it('finds almost all of it where nothing isolates it', async () => {
    const { artifacts, isolation } = await attack(worker.child.pid);
    expect(isolation).toBe('none');
    expect(artifacts.found).toEqual(
      expect.arrayContaining([
        ...canaries.paths.map((path) => `read ${basename(path)}`),
        'listed workspaces',
        'read the environment of the worker',
        'accounts of the machine',
        'wrote projects',
        ...['keyctl', 'ptrace', 'io_uring_setup', 'unshare'].map((name) => `call ${name}`),
        'socket AF_PACKET',
        'new privileges',
        ...['ipc', 'mnt', 'pid', 'user', 'uts'].map((name) => `namespace ${name}`),
      ]),
    );
  });
});
