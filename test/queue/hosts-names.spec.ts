/**
 * Budget: 45 s, because Ansible gathers facts of hosts in five runs.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const SET = `
    - set_fact: {site: "{{ site_name | default('north') }}", cacheable: true}
`;
const PLAYBOOKS = {
  'gather.yml': `- hosts: all\n  gather_subset: [min]\n  gather_facts: true\n  tasks:${SET}`,
  'show.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} is in {{ ansible_facts.site | default('no place') }}"}
`,
  'wrong.yml': '- hosts: all\n  no_such_key: 1\n',
};

const NAMES = ['rack01/02', 'rack01', '10.0.0.0/24', 'a/b/c', '../up', '/etc/x', 'plain'];

/** Ansible keeps facts in files named like hosts. */
describe('hosts with paths as names', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let inventory: Row;
  const ids = new Map<string, number>();

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
    inventory = await api.call('POST', 'inventories/', {
      ...{ name: 'Paths', organization: 1 },
      variables: 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3',
    });
    for (const name of NAMES) {
      const host = await api.call('POST', `inventories/${inventory.id}/hosts/`, { name });
      ids.set(name, host.id);
    }
  });
  afterAll(() => cluster.stop());

  async function play(playbook: string, fields: object, status = 'successful'): Promise<Row> {
    const template = await api.call('POST', 'job_templates/', {
      ...{ name: `Template ${Math.random()}`, project: 1, inventory: inventory.id, playbook },
      ...fields,
    });
    const { id } = await api.call('POST', `job_templates/${template.id}/launch/`, {});
    await cluster.becomes(id, status, 60_000);
    return api.call('GET', `jobs/${id}/`);
  }

  it('run without a fact cache', async () => {
    const job = await play('gather.yml', { use_fact_cache: false });
    expect(job).toMatchObject({ job_explanation: '', host_status_counts: { ok: NAMES.length } });
  });

  it('run with a fact cache, and have facts in the next run', async () => {
    const job = await play('gather.yml', { use_fact_cache: true });
    expect(job).toMatchObject({ job_explanation: '', host_status_counts: { ok: NAMES.length } });
    const { id } = await play('show.yml', { use_fact_cache: true });
    const output = await api.text('GET', `jobs/${id}/stdout/?format=txt`, undefined, 'text/plain');
    // Two names exclude each other if one would be a file and one a folder: only one of them has facts.
    const kept = ['rack01/02', '10.0.0.0/24', 'a/b/c', 'plain'];
    for (const name of NAMES) {
      expect(output).toContain(`${name} is in ${kept.includes(name) ? 'north' : 'no place'}`);
      const facts = await api.call('GET', `hosts/${ids.get(name)}/ansible_facts/`);
      expect(Object.keys(facts).includes('site')).toBe(kept.includes(name));
    }
  });

  it('show why Ansible failed without a failed task', async () => {
    for (const use_fact_cache of [false, true]) {
      const job = await play('wrong.yml', { use_fact_cache }, 'failed');
      expect(job.job_explanation).toBe(
        'Ansible ended with exit code 4, and no task had failed. The end of the output contains the reason.',
      );
    }
  });
});
