import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster, type JobRow } from '../faults/support/cluster.js';

const PLAYBOOKS = {
  'site.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "here is {{ inventory_hostname }}"}
`,
  'local.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "here is {{ inventory_hostname }}"}
- hosts: localhost
  gather_facts: false
  tasks:
    - debug: {msg: "here is {{ inventory_hostname }}"}
`,
  'broken.yml': '- hosts: all\n  nonsense: true\n',
};

/** Launched over HTTP and run by a worker with the real Ansible. */
describe('a run without hosts', () => {
  let cluster: Cluster;
  let api: ApiCalls;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
  });
  afterAll(() => cluster.stop());

  /** An inventory of its own, its hosts by whether they are enabled. */
  async function inventory(hosts: Record<string, boolean> = {}, variables = ''): Promise<Row> {
    const made = await api.call('POST', 'inventories/', {
      name: `Inventory ${Math.random()}`,
      organization: 1,
      variables,
    });
    for (const [name, enabled] of Object.entries(hosts)) {
      await api.call('POST', `inventories/${made.id}/hosts/`, {
        ...{ name, enabled },
        variables: 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3',
      });
    }
    return made;
  }

  /** Launches a template of its own. */
  async function launch(of: Row, fields: object = {}): Promise<Row> {
    const template = await api.call('POST', 'job_templates/', {
      name: `Template ${Math.random()}`,
      project: 1,
      inventory: of.id,
      playbook: 'site.yml',
      ...fields,
    });
    return api.call('POST', `job_templates/${template.id}/launch/`, {});
  }

  const ended = ({ id }: Row, status = 'successful'): Promise<JobRow> =>
    cluster.becomes(id, status, 30_000);
  const outputOf = ({ id }: Row): Promise<string> =>
    api.text('GET', `jobs/${id}/stdout/?format=txt`, undefined, 'text/plain');

  async function skipsAllHosts(job: Row): Promise<void> {
    await ended(job);
    const output = await outputOf(job);
    expect(output).toContain('skipping: no hosts matched');
    expect(output).not.toContain('ERROR');
    const shown = await api.call('GET', `jobs/${job.id}/`);
    expect(shown).toMatchObject({ failed: false, job_explanation: '' });
  }

  // src/inventories/ansible-inventory.spec.ts proves that the document of an empty inventory is the same.
  it('succeeds with nothing but disabled hosts, also in groups', async () => {
    const made = await inventory({ one: false });
    const group = await api.call('POST', `inventories/${made.id}/groups/`, { name: 'web' });
    await api.call('POST', `groups/${group.id}/hosts/`, { name: 'two', enabled: false });
    const job = await launch(made);
    await skipsAllHosts(job);
    const events = await api.call('GET', `jobs/${job.id}/job_events/`);
    expect((events.results as Row[]).map(({ event }) => event)).toContain(
      'playbook_on_no_hosts_matched',
    );
  });

  it('succeeds as a slice without enabled hosts', async () => {
    const workflow = await launch(await inventory({ one: true, two: false }), {
      job_slice_count: 2,
    });
    expect(workflow.type).toBe('workflow_job');
    await ended(workflow);
    const nodes = await api.call('GET', `workflow_jobs/${workflow.id}/workflow_nodes/`);
    const jobs = (nodes.results as Row[]).map(({ job }) => ({ id: job as number }));
    const outputs = await Promise.all(jobs.map(outputOf));
    expect(outputs[0]).toContain('here is one');
    expect(outputs[1]).toContain('skipping: no hosts matched');
    expect(outputs[1]).not.toContain('ERROR');
  });

  it('succeeds with any limit if there are only variables', async () => {
    const job = await launch(await inventory({}, 'site: north'), { limit: 'nowhere' });
    await skipsAllHosts(job);
  });

  it('succeeds with a limit that matches no host, also of names that Ansible knows', async () => {
    const limit = 'nowhere,localhost,one,!one';
    const job = await launch(await inventory({ one: true, two: true }), {
      ...{ limit, playbook: 'local.yml' },
    });
    await ended(job);
    const output = await outputOf(job);
    expect(output.match(/skipping: no hosts matched/g)).toHaveLength(2);
    expect(output).not.toContain('here is');
    expect(output).not.toContain('ERROR');
    expect(await api.call('GET', `jobs/${job.id}/`)).toMatchObject({
      ...{ limit, failed: false, job_explanation: 'The limit matches none of the hosts.' },
    });
  });

  it('fails with an explanation if the playbook did not start for another reason', async () => {
    const job = await launch(await inventory({ one: true }), { playbook: 'broken.yml' });
    await ended(job, 'failed');
    expect(await outputOf(job)).toContain('ERROR');
  });

  it('is visible to clients in the inventory document', async () => {
    const made = await inventory({ one: false });
    const url = `inventories/${made.id}/script/`;
    expect(await api.call('GET', url)).toEqual({ all: { hosts: [] } });
    expect(await api.call('GET', `${url}?hostvars=1`)).toEqual({
      all: { hosts: [] },
      _meta: { hostvars: {} },
    });
    expect(await api.call('GET', `${url}?all=1`)).toEqual({ all: { hosts: ['one'] } });
  });
});
