/**
 * Budget: 40 s, because Ansible stores and reads facts in twelve runs.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const SET = `
    - set_fact: {site: "{{ site_name | default('north') }}", cacheable: true}
`;
const PLAYBOOKS = {
  'gather.yml': `- hosts: one
  gather_subset: [min]
  gather_facts: true
- hosts: two,three
  gather_facts: false
  tasks:${SET}`,
  'set.yml': `- hosts: all\n  gather_facts: false\n  tasks:${SET}`,
  'fail.yml': `- hosts: all\n  gather_facts: false\n  tasks:${SET}    - fail: {}\n`,
  'show.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} is in {{ ansible_facts.site | default('no place') }}"}
`,
  'attack.yml': `- hosts: all
  gather_facts: false
  tasks:
    - set_fact:
        cacheable: true
        site: far
        ansible_remote_tmp: "/tmp/x$(touch $AWX_PRIVATE_DATA_DIR/artifacts/hit)"
        discovered_interpreter_python: /bin/false
        ansible_distribution: Debian
`,
  'victim.yml': `- hosts: all
  gather_facts: false
  tasks:
    - command: echo
    - debug:
        msg: >-
          {{ inventory_hostname }} is in {{ ansible_facts.site | default('no place') }},
          tmp {{ ansible_remote_tmp | default('default') }},
          has {{ ansible_facts.distribution | default('nothing') }}
          {{ ansible_facts.discovered_interpreter_python | default('not found') }}
`,
  'show-and-set.yml': `- hosts: one
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} is in {{ ansible_facts.site | default('no place') }}"}
- hosts: all
  gather_facts: false
  tasks:${SET}`,
  'show-and-clear.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} is in {{ ansible_facts.site | default('no place') }}"}
- hosts: one
  gather_facts: false
  tasks:
    - meta: clear_facts
`,
  'clear.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - meta: clear_facts\n',
  'large.yml': `- hosts: all
  gather_facts: false
  tasks:
    - set_fact: {site: "{{ 'x' * (3000 if inventory_hostname == 'one' else 3) }}", cacheable: true}
`,
  'spoil.yml': `- hosts: all
  gather_facts: false
  tasks:
    - shell: |
        set -e
        cd "$AWX_PRIVATE_DATA_DIR/artifacts/run/fact_cache"
        case {{ inventory_hostname }} in
          one) echo '{broken' > one ;;
          two) ln -sf /etc/passwd two ;;
          *) echo '[1]' > three ; echo '{}' > stranger ;;
        esac
`,
};

interface Known {
  facts: Row;
  modified: string | null;
}

/**
 * Playbooks are launched over HTTP and executed by a worker with the real Ansible, in any sandbox that the
 * machine supports.
 */
describe('the facts of hosts', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let inventory: Row;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
  });
  afterAll(() => cluster.stop());

  beforeEach(async () => {
    inventory = await api.call('POST', 'inventories/', {
      ...{ name: `Inventory ${Math.random()}`, organization: 1 },
      // Without this variable Ansible discovers its interpreter, which is a fact.
      variables: 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3',
    });
    for (const name of ['one', 'two', 'three']) {
      await api.call('POST', `inventories/${inventory.id}/hosts/`, { name });
    }
  });

  /** Launches a new template and waits for the end. */
  async function play(playbook: string, fields: object = {}, status = 'successful'): Promise<Row> {
    const template = await api.call('POST', 'job_templates/', {
      ...{ name: `Template ${Math.random()}`, project: 1, inventory: inventory.id, playbook },
      ...{ use_fact_cache: true, ...fields },
    });
    const { id } = await api.call('POST', `job_templates/${template.id}/launch/`, {});
    await cluster.becomes(id, status, 60_000);
    return api.call('GET', `${'job_slice_count' in fields ? 'workflow_jobs' : 'jobs'}/${id}/`);
  }

  const outputOf = ({ id }: Row): Promise<string> =>
    api.text('GET', `jobs/${id}/stdout/?format=txt`, undefined, 'text/plain');

  async function known(): Promise<Record<string, Known>> {
    const { results } = await api.call('GET', `inventories/${inventory.id}/hosts/`);
    const entries = (results as Row[]).map(
      async ({ id, name, ansible_facts_modified: modified }) => {
        const facts = await api.call('GET', `hosts/${id}/ansible_facts/`);
        return [name, { facts, modified }] as const;
      },
    );
    return Object.fromEntries(await Promise.all(entries)) as Record<string, Known>;
  }

  const AT_NORTH = { facts: { site: 'north' }, modified: expect.any(String) };
  const NOTHING = { facts: {}, modified: null };

  /** Stores the facts that a run of `set.yml` would store. */
  async function placeInNorth(...names: string[]): Promise<void> {
    await cluster.rows(
      `WITH placed AS (UPDATE hosts SET ansible_facts_modified = now()
         WHERE inventory_id = $1 AND name = ANY($2) RETURNING id),
       shared AS (INSERT INTO host_facts (host_id, facts) SELECT id, '{}' FROM placed)
       INSERT INTO host_project_facts (host_id, project_id, facts)
       SELECT id, 1, '{"site": "north"}' FROM placed`,
      [inventory.id, names],
    );
    const facts = await known();
    for (const name of names) expect(facts[name]).toEqual(AT_NORTH);
  }

  it('come from gather_facts, and are available in the next run', async () => {
    expect(await known()).toEqual({ one: NOTHING, two: NOTHING, three: NOTHING });
    await play('gather.yml');
    const { one } = await known();
    expect(one?.facts).toMatchObject({ ansible_system: 'Linux' });
    const output = await outputOf(await play('show.yml'));
    expect(output).toContain('one is in no place');
    expect(output).toContain('two is in north');
    expect(output).toContain('three is in north');
    expect((await known()).one).toEqual(one);
    const filter = 'ansible_facts__ansible_system=Linux';
    const { results } = await api.call(
      'GET',
      `inventories/${inventory.id}/hosts/?host_filter=${filter}`,
    );
    expect((results as Row[]).map(({ name }) => name)).toEqual(['one']);
  });

  it('of setup are shared with other projects, and never as templates in options', async () => {
    await placeInNorth('one');
    const [other] = await cluster.rows<{ id: number }>(`
      INSERT INTO unified_job_templates (type, name, organization_id, local_path)
      VALUES ('project', 'Other', 1, 'demo') RETURNING id`);
    const inOther = { limit: 'one', project: other?.id };
    await play('attack.yml', inOther);
    const there = await outputOf(await play('victim.yml', inOther));
    expect(there).toContain('one is in far, tmp default, has Debian not found');
    const here = await outputOf(await play('victim.yml', { limit: 'one' }));
    expect(here).toContain('one is in north, tmp default, has Debian not found');
  });

  it('are neither used nor stored by a run without the option', async () => {
    await placeInNorth('one');
    const before = await known();
    const job = await play('show-and-set.yml', { use_fact_cache: false });
    expect(await outputOf(job)).toContain('one is in no place');
    expect(await known()).toEqual({ one: before.one, two: NOTHING, three: NOTHING });
  });

  it('are stored after a failed run, except for hosts that it did not reach and for names that are paths', async () => {
    await api.call('POST', `inventories/${inventory.id}/hosts/`, { name: '../x' });
    await play('fail.yml', { limit: 'one,..*' }, 'failed');
    const stored = { one: AT_NORTH, two: NOTHING, three: NOTHING, '../x': NOTHING };
    expect(await known()).toEqual(stored);
  });

  it('are cleared only by a play that clears them', async () => {
    await placeInNorth('one', 'two');
    const before = await known();
    await play('clear.yml', { limit: 'two,three' });
    const after = await known();
    expect(after).toEqual({
      ...{ one: before.one, three: NOTHING },
      two: { facts: {}, modified: expect.any(String) },
    });
    expect(after.two?.modified).not.toEqual(before.two?.modified);
  });

  it('are kept but not used after their timeout', async () => {
    await placeInNorth('one', 'two');
    await cluster.rows(
      `UPDATE hosts SET ansible_facts_modified = now() - interval '2 days' WHERE name = 'one'`,
    );
    const before = await known();
    await api.call('PATCH', 'settings/jobs/', { ANSIBLE_FACT_CACHE_TIMEOUT: 86_400 });
    try {
      const output = await outputOf(await play('show-and-clear.yml'));
      expect(output).toContain('one is in no place');
      expect(output).toContain('two is in north');
      expect(await known()).toEqual(before);
    } finally {
      await api.call('PATCH', 'settings/jobs/', { ANSIBLE_FACT_CACHE_TIMEOUT: 0 });
    }
    // The facts are older than the day after which Ansible itself discards them.
    expect(await outputOf(await play('show.yml'))).toContain('one is in north');
  });

  it('include only the hosts of a slice', async () => {
    await play('set.yml', { job_slice_count: 2 });
    expect(await known()).toEqual({ one: AT_NORTH, two: AT_NORTH, three: AT_NORTH });
  });

  it('are not stored above the size limit, and the run reports this', async () => {
    await placeInNorth('one');
    await api.call('PATCH', 'settings/jobs/', { HOST_FACTS_BYTES: 1024 });
    try {
      const job = await play('large.yml', { limit: 'one,two' });
      expect(job.job_explanation).toContain('too large (HOST_FACTS_BYTES) or not readable: one.');
    } finally {
      await api.call('PATCH', 'settings/jobs/', { HOST_FACTS_BYTES: 1_048_576 });
    }
    const { one, two } = await known();
    expect(one).toEqual(AT_NORTH);
    expect(two?.facts).toEqual({ site: 'xxx' });
  });

  it('are empty if a play damages the files', async () => {
    await placeInNorth('one', 'two', 'three');
    const before = await known();
    const job = await play('spoil.yml');
    expect(job.job_explanation).toMatch(/readable: (one|two|three), \w+, \w+\.$/);
    expect(await known()).toEqual(before);
  });
});
