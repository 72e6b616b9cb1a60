/**
 * Budget: 30 s, because Ansible runs twice.
 */
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const PLAYBOOKS = {
  'site.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "here is {{ inventory_hostname }}"}
    - fail: {}
      when: inventory_hostname == 'Bad'
`,
};

/** Launched over HTTP and run by a worker with the real Ansible. */
it('a job counts each host of its statistics once', async () => {
  const cluster = await Cluster.start({ playbooks: PLAYBOOKS });
  try {
    const api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
    const inventory = await api.call('POST', 'inventories/', { name: 'Counted', organization: 1 });
    for (const name of ['Bad', 'good', 'idle']) {
      await api.call('POST', `inventories/${inventory.id}/hosts/`, {
        ...{
          name,
          variables: 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3',
        },
      });
    }
    const template = await api.call('POST', 'job_templates/', {
      ...{ name: 'Counted', project: 1, inventory: inventory.id, playbook: 'site.yml' },
      ask_limit_on_launch: true,
    });
    for (const [limit, status] of [
      ['good:Bad', 'failed'],
      ['good', 'successful'],
    ] as const) {
      const job = await api.call('POST', `job_templates/${template.id}/launch/`, { limit });
      await cluster.becomes(job.id, status, 60_000);
    }
    const counted = await cluster.rows(
      'SELECT hostname, automated_counter AS jobs FROM host_metrics ORDER BY hostname',
    );
    expect(counted).toEqual([
      { hostname: 'bad', jobs: 1 },
      { hostname: 'good', jobs: 2 },
    ]);
  } finally {
    await cluster.stop();
  }
});
