import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Cluster } from '../faults/support/cluster.js';
import { processesWith, type Program } from '../faults/support/processes.js';
import { eventually } from '../support/eventually.js';

const CANARY = 'canary-of-the-boundary';

/**
 * What an attacker does from inside a run: each line of its output is something it found. Without
 * isolation it finds most of it, which is how this attack itself is tested.
 */
const ATTACK = `
import base64, glob, json, os, socket, subprocess, sys
target = json.loads(base64.b64decode(sys.argv[1]))
found = []
def attempt(name, work):
    try:
        if work(): found.append(name)
    except Exception: pass
def read(path):
    with open(path, 'rb') as file: return file.read()
for path in target['files']:
    attempt('read ' + os.path.basename(path), lambda: b'${CANARY}' in read(path))
for path in target['folders']:
    attempt('listed ' + os.path.basename(path), lambda: os.listdir(path))
def environments():
    return any(b'DATABASE_URL' in read(path) for path in glob.glob('/proc/[0-9]*/environ'))
attempt('read an environment', environments)
attempt('read the environment of the worker', lambda: b'DATABASE_URL' in read('/proc/%d/environ' % target['worker']))
attempt('saw the worker', lambda: b'worker.js' in read('/proc/%d/cmdline' % target['worker']))
attempt('own environment', lambda: any(name in os.environ for name in ('DATABASE_URL', 'REDIS_URL', 'SECRET_KEY')))
attempt('accounts of the machine', lambda: len(read('/etc/passwd').splitlines()) > 3)
attempt('shadow', lambda: read('/etc/shadow'))
attempt('is root', lambda: os.getuid() == 0)
def write(folder):
    path = os.path.join(folder, 'written-by-a-run')
    with open(path, 'w') as file: file.write('x')
    os.unlink(path)
    return True
for folder in ['/', '/usr', '/usr/bin', '/etc', '/opt', '/run', '/var', '/dev', '/sys', *target['folders']]:
    attempt('wrote ' + os.path.basename(folder), lambda: write(folder))
def capabilities():
    return any(line.split()[1].strip(b'0') for line in read('/proc/self/status').splitlines() if line.startswith(b'Cap'))
attempt('capabilities', capabilities)
quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
attempt('user namespace', lambda: subprocess.call(['unshare', '-U', 'true'], **quiet) == 0)
attempt('mount', lambda: subprocess.call(['mount', '-t', 'tmpfs', 'none', '/runner/tmp'], **quiet) == 0)
attempt('sudo', lambda: subprocess.call(['sudo', '-n', 'true'], **quiet) == 0)
attempt('host name', lambda: socket.gethostname() == target['hostname'])
print(json.dumps(found))
`;

const FORKS = `
import os, time
started = 0
try:
    while started < 2000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
except OSError:
    pass
print(started)
os.kill(0, 9) if started == 2000 else None
`;

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

/** Ansible would take JSON in a text for a value. */
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

const isRoot = process.getuid?.() === 0;
/** An account every system has: Ansible needs one. */
const NOBODY = 65_534;

/** As whoever runs the tests, and as a plain user where that is root. */
const ACCOUNTS: [name: string, uid: number | undefined][] = [
  [isRoot ? 'root' : 'a plain user', undefined],
  ...(isRoot ? [['a plain user', NOBODY] as [string, number]] : []),
];

describe.each(ACCOUNTS)('a run of a worker that is %s', (_name, uid) => {
  let cluster: Cluster;
  let worker: Program;
  let data: string;

  const secrets = (): string[] =>
    ['secret_key', 'admin_token', 'service.env', 'projects/other/site.yml'].map((name) =>
      join(data, name),
    );

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS, ...(uid === undefined ? {} : { uid }) });
    data = join(cluster.folder, 'data');
    await mkdir(join(data, 'projects', 'other'), { recursive: true });
    for (const path of secrets()) await writeFile(path, CANARY, { mode: 0o644 });
    await writeFile(join(data, 'event'), EVENT, { mode: 0o644 });
    worker = await cluster.worker({ JOB_PROCESSES: '200', JOB_FILE_BYTES: '100000000' });
  }, 90_000);

  afterAll(() => cluster.stop());

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
    const target = {
      files: secrets(),
      folders: [
        data,
        join(data, 'projects'),
        join(data, 'projects', 'other'),
        join(data, 'workspaces'),
      ],
      worker: pid,
      hostname: (await cluster.rows<{ hostname: string }>('SELECT hostname FROM instances'))[0]
        ?.hostname,
    };
    const id = await run('attack.yml', { target: base64(target) });
    const job = await cluster.becomes(id, 'successful', 40_000);
    return job as unknown as { artifacts: { found: string[] }; isolation: string };
  }

  it('finds nothing', async () => {
    const { artifacts, isolation } = await attack(worker.child.pid);
    expect(isolation).toBe('bubblewrap');
    expect(artifacts.found).toEqual([]);
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

  const daemons = (seconds: number) => processesWith(`sleep\0${seconds}`);

  it('ends with its daemons', async () => {
    const id = await run('daemon.yml', { seconds: 7771.5, wait: 2 });
    await eventually(async () => expect(await daemons(7771.5)).toHaveLength(1), 30_000);
    await cluster.becomes(id, 'successful', 40_000);
    await eventually(async () => expect(await daemons(7771.5)).toEqual([]), 1000);
  });

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

  it('ends with its worker, daemons and all', async () => {
    const id = await run('daemon.yml', { seconds: 7772.5, wait: 60 });
    await eventually(async () => expect(await daemons(7772.5)).toHaveLength(1), 30_000);
    worker.child.kill('SIGKILL');
    await worker.ended;
    await eventually(async () => expect(await daemons(7772.5)).toEqual([]), 1000);
    worker = await cluster.worker({ JOB_ISOLATION: 'none' });
    await cluster.becomes(id, 'failed', 20_000);
  });

  // `nobody` has no home, where Ansible would put its modules.
  if (uid !== undefined) return;

  it('finds almost all of it where nothing isolates it', async () => {
    const { artifacts, isolation } = await attack(worker.child.pid);
    expect(isolation).toBe('none');
    expect(artifacts.found).toEqual(
      expect.arrayContaining([
        ...secrets().map((path) => `read ${path.slice(path.lastIndexOf('/') + 1)}`),
        'listed workspaces',
        'read the environment of the worker',
        'accounts of the machine',
        'wrote projects',
      ]),
    );
  });
});
