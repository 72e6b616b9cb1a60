/**
 * Budget: 35 s, because ansible-inventory constructs an inventory in each test.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const PLAYBOOKS = {
  'set.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ inventory_hostname }} knows {{ ansible_facts.system | default('nothing') }}"}
    - set_fact: {place: "{{ site }}", cacheable: true}
    - fail: {}
      when: inventory_hostname == 'web1'
`,
};

/**
 * Constructed inventories are read by the real `ansible-inventory` in any sandbox that the machine supports.
 */
describe('updates of constructed inventories', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  const hosts: Record<string, Row> = {};

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
    plant = await inventory({ variables: 'site: north\ndns: one' });
    office = await inventory({ variables: 'site: south' });
    hosts.web1 = await host(plant, { name: 'web1', variables: 'size: 3\nport: 80' });
    hosts.web2 = await host(plant, { name: 'web2', variables: 'size: 1' });
    await host(plant, { name: 'off', enabled: false });
    hosts.later = await host(office, { name: 'web1', variables: 'port: 81' });
    hosts.db = await host(office, { name: 'db', variables: 'state: ready' });
    const group = await make(`inventories/${plant.id}/groups/`, {
      ...{ name: 'webs', variables: 'tier: front' },
    });
    for (const one of ['web1', 'web2']) {
      await make(`groups/${group.id}/hosts/`, { id: hosts[one]?.id });
    }
    await cluster.rows(
      `INSERT INTO host_facts (host_id, facts) VALUES ($1, '{"ansible_system": "Linux"}')`,
      [hosts.db.id],
    );
    await cluster.rows('UPDATE hosts SET ansible_facts_modified = now() WHERE id = $1', [
      hosts.db.id,
    ]);
  });
  afterAll(() => cluster.stop());

  let plant: Row;
  let office: Row;
  let counter = 0;
  const make = (path: string, fields: object) => api.call('POST', path, fields);
  const inventory = (fields: object) =>
    make('inventories/', { name: `Inventory ${(counter += 1)}`, organization: 1, ...fields });
  const host = ({ id }: Row, fields: object) => make(`inventories/${id}/hosts/`, fields);

  async function construct(fields: object, inputs = [plant, office]): Promise<Row> {
    const made = await make('constructed_inventories/', {
      ...{ name: `Made ${(counter += 1)}`, organization: 1, ...fields },
    });
    for (const { id } of inputs) await make(`inventories/${made.id}/input_inventories/`, { id });
    return made;
  }

  /** Updates an inventory and waits for the end. */
  async function update({ id }: Row, status = 'successful'): Promise<Row> {
    const [started] = (await api.call(
      'POST',
      `inventories/${id}/update_inventory_sources/`,
    )) as unknown as Row[];
    await cluster.becomes(started?.inventory_update as number, status, 90_000);
    return api.call('GET', `inventory_updates/${started?.inventory_update}/`);
  }

  const scriptOf = ({ id }: Row) => api.call('GET', `inventories/${id}/script/?hostvars=1`);
  const output = ({ id }: Row) =>
    api.text('GET', `inventory_updates/${id}/stdout/?format=txt`, undefined, 'text/plain');

  it('add groups and variables to those of the inputs, of which later ones take precedence', async () => {
    const made = await construct({
      variables: 'own: lost',
      source_vars: JSON.stringify({
        compose: { label: "inventory_hostname ~ '-' ~ site" },
        groups: { large: 'size | default(0) > 2', linux: "ansible_system == 'Linux'" },
        keyed_groups: [{ key: 'state', prefix: 'is' }],
      }),
    });
    const run = await update(made);
    expect(run).toMatchObject({
      ...{ source: 'constructed', inventory: made.id },
      changes: { hosts: { added: 3, removed: 0 }, variables: true },
    });
    const { _meta, ...groups } = await scriptOf(made);
    expect(groups).toEqual({
      all: {
        children: ['is_ready', 'large', 'linux', 'webs'],
        vars: { site: 'south', dns: 'one' },
      },
      is_ready: { hosts: ['db'] },
      large: { hosts: ['web1'] },
      linux: { hosts: ['db'] },
      webs: { hosts: ['web1', 'web2'], vars: { tier: 'front' } },
    });
    expect(_meta).toEqual({
      hostvars: {
        db: { state: 'ready', label: 'db-south' },
        web1: { size: 3, port: 81, label: 'web1-south' },
        web2: { size: 1, label: 'web2-south' },
      },
    });
    const { results } = await api.call('GET', `inventories/${made.id}/hosts/?order_by=name`);
    expect((results as Row[]).map(({ instance_id: id }) => id)).toEqual(
      [hosts.db, hosts.later, hosts.web2].map((one) => String(one?.id)),
    );
  });

  it('relate each host to its original in an input, whatever the rules say', async () => {
    const foreign = await host(await inventory({}), { name: 'foreign' });
    const compose = { remote_tower_id: `'${foreign.id}'` };
    const made = await construct({ source_vars: JSON.stringify({ compose }) });
    await update(made);
    const { results } = await api.call('GET', `inventories/${made.id}/hosts/?order_by=name`);
    expect((results as Row[]).map(({ instance_id: id }) => id)).toEqual(
      [hosts.db, hosts.later, hosts.web2].map((one) => String(one?.id)),
    );
  });

  it('import the hosts that match the limit, with the constructed groups', async () => {
    const made = await construct({
      ...{ limit: 'large:!db', source_vars: 'groups: {large: size | default(0) > 2}' },
    });
    await update(made);
    const { _meta } = await scriptOf(made);
    expect(Object.keys((_meta as { hostvars: object }).hostvars)).toEqual(['web1']);
    // Hosts that vanish from the inputs are removed, and the others keep their rows.
    const [before] = (await api.call('GET', `inventories/${made.id}/hosts/`)).results as Row[];
    await api.call('PATCH', `constructed_inventories/${made.id}/`, { limit: 'web*' });
    await update(made);
    const after = (await api.call('GET', `inventories/${made.id}/hosts/?order_by=name`))
      .results as Row[];
    expect(after.map(({ name }) => name)).toEqual(['web1', 'web2']);
    expect(after[0]?.id).toBe(before?.id);
    await api.call('PATCH', `constructed_inventories/${made.id}/`, { limit: 'nobody' });
    expect((await update(made, 'failed')).job_explanation).toBe('The limit matches no host.');
    expect((await api.call('GET', `inventories/${made.id}/`)).total_hosts).toBe(2);
  }, 240_000);

  it('provide the hosts of the inputs to jobs, whose results appear there', async () => {
    const made = await construct({});
    const connection = 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3';
    const local = await inventory({ variables: connection });
    await make(`inventories/${made.id}/input_inventories/`, { id: local.id });
    await update(made);
    const other = await construct({}, [office]);
    await update(other);
    const template = await make('job_templates/', {
      ...{ name: 'On made hosts', project: 1, inventory: made.id, playbook: 'set.yml' },
      use_fact_cache: true,
    });
    const { id } = await make(`job_templates/${template.id}/launch/`, {});
    await cluster.becomes(id as number, 'failed', 120_000);
    const rows = async (path: string) => (await api.call('GET', path)).results as Row[];
    const text = await api.text('GET', `jobs/${id}/stdout/?format=txt`, undefined, 'text/plain');
    expect(text).toContain('db knows Linux');

    const ofMade = await rows(`inventories/${made.id}/hosts/?order_by=name`);
    const [db, web1, web2] = ofMade as [Row, Row, Row];
    const real = { db: hosts.db!, web1: hosts.later!, web2: hosts.web2! };
    const summaries = await rows(`jobs/${id}/job_host_summaries/?order_by=host_name`);
    const [ofDb, ofWeb1] = summaries as [Row, Row];
    expect(summaries.map(({ host, constructed_host: row }) => [host, row])).toEqual([
      [real.db.id, db.id],
      [real.web1.id, web1.id],
      [real.web2.id, web2.id],
    ]);
    expect(ofDb.summary_fields).toMatchObject({ constructed_host: { name: 'db' } });
    const events = await rows(`jobs/${id}/job_events/?event=runner_on_failed`);
    expect(events.map(({ host }) => host)).toEqual([web1.id]);
    for (const one of [real.web1, web1]) {
      expect(await api.call('GET', `hosts/${one.id}/`)).toMatchObject({
        ...{ last_job: id, last_job_host_summary: ofWeb1.id, has_active_failures: true },
        summary_fields: { recent_jobs: [{ id }] },
      });
      const found = await rows(`hosts/${one.id}/job_host_summaries/`);
      expect(found.map((row) => row.id)).toEqual([ofWeb1.id]);
    }
    // Another inventory constructed from the same host shows the same state.
    const [copy] = await rows(`inventories/${other.id}/hosts/?name=web1`);
    expect(copy).toMatchObject({ last_job: id, has_active_failures: true });
    for (const one of [made, other, office]) {
      expect(await api.call('GET', `inventories/${one.id}/`)).toMatchObject({
        hosts_with_active_failures: 1,
      });
    }
    expect(db.related).toMatchObject({
      original_host: `/api/v2/hosts/${real.db.id}/`,
      ansible_facts: `/api/v2/hosts/${real.db.id}/ansible_facts/`,
    });
    const facts = await fetch(`${api.url}/api/v2/hosts/${db.id}/ansible_facts/`, {
      ...{ headers: { Authorization: api.authorization }, redirect: 'manual' },
    });
    expect([facts.status, facts.headers.get('location')]).toEqual([
      302,
      `/api/v2/hosts/${real.db.id}/ansible_facts/`,
    ]);
    expect(await api.call('GET', `hosts/${real.db.id}/ansible_facts/`)).toEqual({
      ...{ ansible_system: 'Linux', place: 'south' },
    });
    // An inventory constructed later shows earlier runs too.
    const gone = await host(office, { name: 'gone' });
    const late = await construct({}, [office]);
    await update(late);
    const [row] = await rows(`inventories/${late.id}/hosts/?name=web1`);
    expect(row).toMatchObject({ last_job: id, has_active_failures: true });
    // A row whose original host was deleted links to no host.
    await api.text('DELETE', `hosts/${gone.id}/`);
    const [left] = (await rows(`inventories/${late.id}/hosts/?name=gone`)) as [Row];
    expect(left.related).not.toHaveProperty('original_host');
    expect(await api.call('GET', `hosts/${left.id}/ansible_facts/`)).toEqual({});
  }, 400_000);

  it('fail with an invalid rule in strict mode', async () => {
    const source_vars = 'compose: {x: nowhere.y}';
    const lenient = await construct({ source_vars });
    await update(lenient);
    const strict = await construct({ source_vars: `${source_vars}\nstrict: true` });
    const run = await update(strict, 'failed');
    expect(await output(run)).toMatch(/nowhere/);
    expect((await api.call('GET', `inventories/${strict.id}/`)).total_hosts).toBe(0);
  });

  it('fail and name an input that is no longer permitted', async () => {
    const made = await construct({});
    await cluster.rows(
      'UPDATE inventory_inputs SET attached_by_id = NULL WHERE inventory_id = $1 AND input_id = $2',
      [made.id, office.id],
    );
    const run = await update(made, 'failed');
    expect(run.job_explanation).toContain(`The input inventory "${String(office.name)}" may not`);
    await make(`inventories/${made.id}/input_inventories/`, { id: office.id });
    await update(made);
  });
});
