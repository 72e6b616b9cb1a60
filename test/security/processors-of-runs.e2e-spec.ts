/**
 * Budget: 25 s, because three workers with settings of their own run a playbook each.
 *
 * A run uses no more processors than the limit, and cannot raise the limit itself.
 */
import { availableParallelism } from 'node:os';

import { Cluster } from '../faults/support/cluster.js';
import { IS_DEEP } from '../support/depth.js';

/** Prints how many processors it may use, as programs ask for them; then takes all of the machine. */
const GREEDY = `
import json, os, subprocess
def shown(): return [len(os.sched_getaffinity(0)), int(subprocess.check_output('nproc'))]
before = shown()
try: os.sched_setaffinity(0, range(os.cpu_count())); said = ''
except OSError as error: said = error.strerror
print(json.dumps([*before, said, *shown()]))
`;

const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
    - {command: "python3 greedy.py", register: out}
    - set_stats: {data: {said: "{{ out.stdout | from_json }}"}}
`;

const ALL = availableParallelism();
/** An account every system has: Ansible needs one. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

describe.each([undefined, ...(isRoot ? [NOBODY] : [])])('a worker of the account %s', (uid) => {
  let cluster: Cluster;
  beforeAll(async () => {
    const playbooks = { 'greedy.yml': PLAYBOOK, 'greedy.py': GREEDY };
    cluster = await Cluster.start({ playbooks, ...(uid === undefined ? {} : { uid }) });
  }, 90_000);
  afterAll(() => cluster.stop());

  const limited: [string, unknown[]] = ['1', [1, 1, 'Operation not permitted', 1, 1]];
  // Shows that the program works without a limit; one account is enough.
  const free: [string, unknown[]] = ['0', [ALL, ALL, '', ALL, ALL]];
  it.each(IS_DEEP || uid === undefined ? [limited, free] : [limited])(
    'applies JOB_CPUS=%s',
    async (JOB_CPUS, expected) => {
      const worker = await cluster.worker({ JOB_ISOLATION: 'bubblewrap', JOB_CPUS });
      const [id] = (await cluster.addJobs(1, { playbook: 'greedy.yml' })) as [number];
      const job = await cluster.becomes(id, 'successful', 40_000);
      expect((job as unknown as { artifacts: { said: unknown } }).artifacts.said).toEqual(expected);
      worker.child.kill('SIGTERM');
      await worker.ended;
    },
    90_000,
  );
});
