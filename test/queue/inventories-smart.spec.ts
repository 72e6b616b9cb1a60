/**
 * Budget: 30 s, because Ansible runs.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const PLAYBOOKS = {
  'show.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} {{ group_names }} {{ site }} {{ port | default('no port') }}"}
    - fail: {}
      when: inventory_hostname == 'web-2'
`,
  'keep.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} stands in {{ ansible_facts.rack | default('no rack') }}"}
    - set_fact: {rack: "{{ inventory_hostname }}-rack", cacheable: true}
`,
};

/**
 * Jobs are launched over HTTP and executed by a worker with the real Ansible, in any sandbox that the machine
 * supports.
 */
describe('jobs on a smart inventory', () => {
  let cluster: Cluster;
  let api: ApiCalls;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
  });
  afterAll(() => cluster.stop());

  it('run on the real hosts, without their groups, and store their facts', async () => {
    const make = (path: string, fields: object) => api.call('POST', path, fields);
    const plant = await make('inventories/', { name: 'Plant', organization: 1 });
    const office = await make('inventories/', { name: 'Office', organization: 1 });
    const one = await make(`inventories/${plant.id}/hosts/`, { name: 'web-1' });
    const two = await make(`inventories/${office.id}/hosts/`, { name: 'web-2' });
    await make(`inventories/${office.id}/hosts/`, { name: 'db' });
    const group = await make(`inventories/${plant.id}/groups/`, {
      ...{ name: 'webs', variables: 'port: 80' },
    });
    await make(`groups/${group.id}/hosts/`, { id: one.id });
    const smart = await make('inventories/', {
      ...{ name: 'Webs', organization: 1, kind: 'smart', host_filter: 'name__startswith=web-' },
      variables: 'ansible_connection: local\nsite: north',
    });
    const template = await make('job_templates/', {
      ...{ name: 'Show', project: 1, inventory: smart.id, playbook: 'show.yml' },
    });
    const { id } = await make(`job_templates/${template.id}/launch/`, {});
    await cluster.becomes(id as number, 'failed', 60_000);
    const output = await api.text('GET', `jobs/${id}/stdout/?format=txt`, undefined, 'text/plain');
    expect(output).toContain("web-1 ['ungrouped'] north no port");
    expect(output).toContain("web-2 ['ungrouped'] north no port");
    expect(output).not.toContain('db ');

    const rows = async (path: string) => (await api.call('GET', path)).results as Row[];
    const summaries = await rows(`jobs/${id}/job_host_summaries/?order_by=host_name`);
    expect(summaries.map(({ host, failed }) => [host, failed])).toEqual([
      [one.id, false],
      [two.id, true],
    ]);
    const events = await rows(`jobs/${id}/job_events/?event=runner_on_ok`);
    expect(events.map(({ host }) => host).sort()).toEqual([one.id, two.id].sort());
    expect(await api.call('GET', `hosts/${two.id}/`)).toMatchObject({
      ...{ last_job: id, has_active_failures: true },
    });
    expect(await api.call('GET', `inventories/${smart.id}/`)).toMatchObject({
      ...{ total_hosts: 2, hosts_with_active_failures: 1, has_active_failures: true },
    });
    expect((await api.call('GET', `inventories/${office.id}/`)).hosts_with_active_failures).toBe(1);

    const keeping = await make('job_templates/', {
      ...{ name: 'Keep', project: 1, inventory: smart.id, playbook: 'keep.yml' },
      use_fact_cache: true,
    });
    const play = async (): Promise<string> => {
      const job = await make(`job_templates/${keeping.id}/launch/`, {});
      await cluster.becomes(job.id, 'successful', 60_000);
      return api.text('GET', `jobs/${job.id}/stdout/?format=txt`, undefined, 'text/plain');
    };
    expect(await play()).toContain('web-1 stands in no rack');
    for (const [host, rack] of [
      [one, 'web-1-rack'],
      [two, 'web-2-rack'],
    ] as const) {
      expect(await api.call('GET', `hosts/${host.id}/ansible_facts/`)).toEqual({ rack });
    }
    expect(await play()).toContain('web-2 stands in web-2-rack');
  });
});
