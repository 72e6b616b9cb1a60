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
};

/** Launched over HTTP and run by a worker with the real Ansible, behind whatever boundary works here. */
describe('jobs on a smart inventory', () => {
  let cluster: Cluster;
  let api: ApiCalls;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.start(cluster);
    await cluster.worker();
  }, 90_000);
  afterAll(() => cluster.stop());

  it('play on the real hosts, without their groups', async () => {
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
  }, 120_000);
});
