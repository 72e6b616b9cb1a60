/**
 * Runs without network access reach no service of the machine, neither PostgreSQL nor Redis.
 *
 * Budget: 30 s, because two workers start and Ansible runs.
 */
import { Cluster } from '../faults/support/cluster.js';

/**
 * Program that prints which of the given loopback ports accept a connection, starting with a port of its own.
 */
const REACH = `
import json, socket, sys
own = socket.create_server(('127.0.0.1', 0))
ports = {'own': own.getsockname()[1], **json.loads(sys.argv[1])}
def answers(port):
    try: return socket.create_connection(('127.0.0.1', port), 2) is not None
    except OSError: return False
print(json.dumps([name for name, port in ports.items() if answers(port)]))
`;

const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
    - {command: "python3 reach.py {{ ports | to_json | quote }}", register: out}
    - set_stats: {data: {reached: "{{ out.stdout | from_json }}"}}
`;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start({ playbooks: { 'reach.yml': PLAYBOOK, 'reach.py': REACH } });
}, 90_000);
afterAll(() => cluster.stop());

it.each([
  ['none', ['own']],
  ['host', ['own', 'postgresql', 'redis']],
])(
  'a run with JOB_NETWORK=%s reaches the expected ports',
  async (network, expected) => {
    const settings = { JOB_ISOLATION: 'bubblewrap', JOB_NETWORK: network };
    const worker = await cluster.workerInside(settings);
    const ports = {
      postgresql: Number(new URL(String(cluster.environment().DATABASE_URL)).port),
      redis: cluster.redisPort,
    };
    const [id] = (await cluster.addJobs(1, { playbook: 'reach.yml', status: 'new' })) as [number];
    await cluster.rows(
      `UPDATE unified_jobs SET extra_vars = $2, status = 'pending' WHERE id = $1`,
      [id, JSON.stringify({ ports })],
    );
    cluster.wake();
    const job = await cluster.becomes(id, 'successful', 40_000);
    expect((job as unknown as { artifacts: { reached: string[] } }).artifacts.reached).toEqual(
      expected,
    );
    await worker.close();
  },
  90_000,
);
