/**
 * Budget: 50 s, because three kinds of workers each start, run hostile playbooks and are killed.
 */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { Cluster, type JobRow } from '../faults/support/cluster.js';
import { commandsWith, type Program } from '../faults/support/processes.js';
import { Containers } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { CanaryFiles } from './canary-files.js';
import { WORKERS } from './worker-kinds.js';
import { ATTACK, CANARY, FILES, FORKS, MEMORY } from './hostile-programs.js';
import { play } from '../support/runs.js';

const DAEMON = '{shell: "setsid env -i sleep {{ seconds }} > /dev/null 2>&1 &"}';
const ATTACK_TASK = '{command: "python3 attack.py {{ target }}", register: attack}';

const PLAYBOOKS = {
  'attack.yml': play(ATTACK_TASK, 'set_stats: {data: {found: "{{ attack.stdout | from_json }}"}}'),
  'attack.py': ATTACK,
  'forks.py': FORKS,
  'files.py': FILES,
  'memory.py': MEMORY,
  // The fork bomb is last: its processes are there until the run ends.
  'probes.yml': play(
    DAEMON,
    ATTACK_TASK,
    '{command: "python3 files.py", register: files}',
    '{shell: "head -c 40000000 /dev/zero > /tmp/full || ! rm /tmp/full", register: full, ignore_errors: true}',
    '{name: huge, shell: "head -c 40000000 /dev/zero > /runner/tmp/huge || ! rm /runner/tmp/huge", ignore_errors: true}',
    '{shell: "echo x > /tmp/{{ name }}; echo x > /var/tmp/{{ name }}; echo x > /dev/shm/{{ name }}"}',
    '{file: {src: "{{ secret }}", dest: "/runner/artifacts/run/job_events/9000-link.json", state: link, force: true}}',
    '{file: {src: "{{ secret }}", dest: "/runner/env/passwords", state: link, force: true}}',
    '{command: "python3 memory.py 100 15"}',
    '{name: forks, command: "python3 forks.py", register: forks}',
    'set_stats: {data: {found: "{{ attack.stdout | from_json }}", opened: "{{ files.stdout }}", full: "{{ full.stderr }}", started: "{{ forks.stdout }}"}}',
  ),
  'memory.yml': play('{command: "python3 memory.py 2000 0"}'),
  'disk.yml': play(
    '{shell: "cd /runner/tmp; for n in 1 2 3 4 5; do head -c 18000000 /dev/zero > $n; done; sleep 60"}',
  ),
  'daemon.yml': play(DAEMON, 'pause: {seconds: 60}'),
};

const EVENT = JSON.stringify({
  uuid: CANARY,
  counter: 9000,
  event: 'verbose',
  stdout: CANARY,
  created: '2026-01-01T00:00:00',
});

/**
 * Time after which processes of an ended run must be gone. The kernel ends them with their namespace: the
 * time is for the check itself on a busy machine.
 */
const GONE_MS = 1000;
/** Ansible starts in a second on an idle machine, and takes many times as long on a busy one. */
const START_MS = 60_000;

interface Ended extends JobRow {
  isolation: string;
  artifacts: { found: string[]; opened: string; full: string; started: string };
}

/** Results of the playbooks that ran side by side on the isolated worker. */
interface Observed {
  probes: Ended;
  memory: Ended;
  disk: Ended;
  /** The daemon of `probes` was running, and ended with the run. */
  daemon: { hasRun: boolean; hasEnded: boolean };
  /** Processes of the memory hog when its run was over. */
  hogs: number[];
  /** True if the ended runs left no workspace. */
  isClean: boolean;
}

describe.each(WORKERS)('a run of a worker that is $account, by $kind', ({ uid, kind }) => {
  let cluster: Cluster;
  let containers: Containers | undefined;
  let canaries: CanaryFiles;
  let data: string;
  let observed: Observed;
  /** Run whose worker was killed. `hasEnded` is true if its daemon ended immediately. */
  let orphaned: { hasEnded: boolean; status?: string; left?: string[] };
  /** Results of the attack without isolation, which test the attack itself. */
  let open: Ended | undefined;
  const leftName = `left-by-a-run-${process.pid}`;
  const isVariant = uid !== undefined || kind === 'container';
  /** True if another worker ends the run whose worker was killed, which is the same for all kinds. */
  const hasSuccessor = IS_DEEP || !isVariant;

  beforeAll(async () => {
    const starting = Cluster.start({
      ...{ playbooks: PLAYBOOKS, concurrency: 4 },
      ...(uid === undefined ? {} : { uid }),
    });
    if (kind === 'container') containers = await Containers.prepare(uid);
    cluster = await starting;
    canaries = await CanaryFiles.plant(cluster);
    ({ data } = canaries);
    await writeFile(join(data, 'event'), EVENT, { mode: 0o644 });
    const worker = await cluster.worker({
      ...{ JOB_PROCESSES: '200', JOB_FILE_BYTES: '20000000', JOB_OPEN_FILES: '300' },
      ...{ JOB_MEMORY_BYTES: '600000000', JOB_TMP_BYTES: '20000000', JOB_DISK_BYTES: '60000000' },
      ...containers?.settings,
    });
    const doomed = await run('daemon.yml', { seconds: 7772.5 });
    observed = await observe(worker, doomed);
    await eventually(async () => expect(await daemons(7772.5)).toHaveLength(1), START_MS);
    worker.child.kill('SIGKILL');
    await worker.ended;
    orphaned = { hasEnded: await isGone(7772.5) };
    if (!hasSuccessor) return;
    const next = await cluster.worker({ JOB_ISOLATION: 'none' });
    const { status } = await ended(doomed);
    orphaned = { ...orphaned, status, left: await readdir(join(data, 'workspaces')) };
    if (isVariant) return;
    open = await ended(await run('attack.yml', { target: await canaries.target(next.child.pid) }));
  }, 240_000);

  afterAll(async () => {
    await cluster.stop();
    await containers?.remove();
  });

  async function run(playbook: string, extraVars: object = {}): Promise<number> {
    const [id] = (await cluster.addJobs(1, { playbook, extraVars })) as [number];
    return id;
  }

  async function ended(id: number): Promise<Ended> {
    await cluster.over([id]);
    return (await cluster.job(id)) as Ended;
  }

  async function observe({ child }: Program, doomed: number): Promise<Observed> {
    const probes = await run('probes.yml', {
      ...{ seconds: 7771.5, target: await canaries.target(child.pid) },
      ...{ name: leftName, secret: join(data, 'event') },
    });
    const disk = await run('disk.yml');
    const hasRun = await isTrue(async () => (await daemons(7771.5)).length === 1, START_MS);
    // This run has to start while the fork bomb is active.
    await isTrue(() => isBegun(probes, 'forks'), START_MS);
    const memory = await run('memory.yml');
    const results = { probes: await ended(probes) };
    const hasEnded = await isGone(7771.5);
    const hogged = await ended(memory);
    const hogs = await commandsWith('memory.py\x002000');
    const daemon = { hasRun, hasEnded };
    const filled = await ended(disk);
    const isClean = await isTrue(async () => {
      const names = await readdir(join(data, 'workspaces'));
      return names.every((name) => name.startsWith(`run-${doomed}-`));
    }, START_MS);
    return { ...results, memory: hogged, hogs, disk: filled, daemon, isClean };
  }

  async function isBegun(id: number, task: string): Promise<boolean> {
    const begun = await cluster.rows(
      `SELECT 1 FROM job_events WHERE job_id = $1 AND task = $2 UNION ALL
       SELECT 1 FROM unified_jobs WHERE id = $1 AND finished IS NOT NULL`,
      [id, task],
    );
    return begun.length > 0;
  }

  const daemons = (seconds: number) => commandsWith(`sleep\0${seconds}`);
  const isGone = (seconds: number) =>
    isTrue(async () => (await daemons(seconds)).length === 0, GONE_MS);

  it('finds no secrets', () => {
    const { artifacts, isolation, status, job_explanation: why } = observed.probes;
    expect({ status, why }).toEqual({ status: 'successful', why: '' });
    expect(isolation).toBe(kind);
    // The engine of root creates no user namespace. Without capabilities the run has no rights in the shared
    // one.
    const isShared = kind === 'container' && uid === undefined;
    expect(artifacts.found).toEqual(isShared ? ['namespace user'] : []);
  });

  it('can start a limited number of processes', () => {
    const started = Number(observed.probes.artifacts.started);
    expect(started).toBeGreaterThan(50);
    expect(started).toBeLessThan(200);
  });

  it('can open a limited number of files', () => {
    const opened = Number(observed.probes.artifacts.opened);
    expect(opened).toBeGreaterThan(250);
    expect(opened).toBeLessThan(300);
  });

  it('ends above the memory limit with an explanation, beside a run that forks endlessly', () => {
    const { status, job_explanation: why } = observed.memory;
    expect(status).toBe('failed');
    expect(why).toContain('more than 600000000 bytes of memory (JOB_MEMORY_BYTES)');
    expect(observed.hogs).toEqual([]);
  });

  it('may have many processes that share their memory', () => {
    expect(observed.probes.status).toBe('successful');
  });

  it('ends with its background processes', () => {
    expect(observed.daemon).toEqual({ hasRun: true, hasEnded: true });
  });

  it('leaves no files on the host, and no links that the worker follows', async () => {
    const events = await cluster.rows<{ stdout: string }>(
      'SELECT stdout FROM job_events WHERE job_id = $1',
      [observed.probes.id],
    );
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify(events.map(({ stdout }) => stdout))).not.toContain(CANARY);
    for (const folder of [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']) {
      expect(existsSync(join(folder, leftName))).toBe(false);
    }
    expect(observed.isClean).toBe(true);
    expect(existsSync(join(data, 'event'))).toBe(true);
  });

  it('writes no file above the size limit', async () => {
    const [task] = await cluster.rows<{ rc: number }>(
      `SELECT (event_data -> 'res' ->> 'rc')::int AS rc FROM job_events
       WHERE job_id = $1 AND event = 'runner_on_failed' AND task = 'huge'`,
      [observed.probes.id],
    );
    expect(task?.rc).toBeGreaterThan(0);
  });

  it('can write a limited amount to /tmp', () => {
    expect(observed.probes.artifacts.full).toContain('No space left on device');
  });

  it('ends above the size limit of its folder, with an explanation', () => {
    expect(observed.disk.status).toBe('failed');
    expect(observed.disk.job_explanation).toContain('(JOB_DISK_BYTES)');
  });

  it('ends with its worker, including background processes', () => {
    expect(orphaned).toEqual({
      hasEnded: true,
      ...(hasSuccessor && { status: 'failed', left: [] }),
    });
  });

  // `nobody` has no home directory, where Ansible would put its modules.
  if (isVariant) return;

  it('finds almost all secrets without a sandbox', () => {
    expect(open?.isolation).toBe('none');
    expect(open?.artifacts.found).toEqual(
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

/** Waits until a check is true. @returns whether it was in time */
function isTrue(check: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  return eventually(async () => {
    if (!(await check())) throw new Error('not yet');
  }, timeoutMs).then(
    () => true,
    () => false,
  );
}
