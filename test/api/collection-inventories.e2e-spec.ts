/**
 * Repeated tasks of the collection's client manage inventory sources and their updates, smart and constructed
 * inventories.
 */
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { CollectionClient } from '../client/collection/collection-client.js';
import type { Item } from '../client/collection/python-values.js';

let test: TestApp;
let collection: CollectionClient;

beforeAll(async () => {
  test = await boot();
  const token = await test.make.token(test.as.users.superuser);
  collection = new CollectionClient(test.url, { by: 'given token', token });
  const { make, home } = test;
  const organization = home.organization.id;
  const other = await make.organization({ name: 'Another' });
  // The same names in two organizations: a task names the organization.
  for (const place of [organization, other.id]) {
    await make.inventory({ name: 'Lab', organization: place });
    const scm = { scm_type: 'git', scm_url: 'https://127.0.0.1:9/x.git', allow_override: true };
    await make.project({ name: 'Code', organization: place, ...scm });
  }
  for (const name of ['Mail', 'Chat']) await make.notificationTemplate({ name, organization });
  await collection.run('credential', {
    ...{ name: 'Cloud', organization: 'Home', credential_type: 'OpenStack' },
    inputs: { host: 'https://cloud.example', username: 'u', password: 'p', project: 'x' },
  });
  await collection.run('execution_environment', { name: 'EE', image: 'quay.io/team/ee' });
}, 60_000);
afterAll(() => test.close());

const get = async (path: string): Promise<Item> =>
  (await test.as.superuser.get(path).expect(200)).body as Item;

/** Runs a task twice. @returns `changed` of both results */
async function twice(module: Parameters<CollectionClient['run']>[0], task: Item): Promise<unknown> {
  const first = await collection.run(module, task);
  const second = await collection.run(module, task);
  if ('id' in second) expect(second.id).toBe(first.id);
  return [first.changed, second.changed];
}

describe('inventory_source', () => {
  const place = { inventory: 'Lab', organization: 'Home' };

  it('is created with a credential, changed, renamed, found and deleted once', async () => {
    const task = {
      ...{ ...place, name: 'From the cloud', source: 'openstack', credential: 'Cloud' },
      ...{ overwrite: true, update_on_launch: true, source_vars: { private: false } },
      ...{ description: 'Machines', verbosity: 2, timeout: 60, update_cache_timeout: 30 },
      ...{ enabled_var: 'status.power', enabled_value: 'on', host_filter: 'web', limit: 'all' },
      ...{ notification_templates_started: ['Mail', 'Chat'], execution_environment: 'EE' },
    };
    expect(await twice('inventory_source', task)).toEqual([true, false]);
    const change = {
      ...{ ...task, description: '', overwrite: false, source_vars: {}, credential: 'Cloud' },
      ...{ notification_templates_started: ['Chat'], notification_templates_error: ['Mail'] },
      ...{ custom_virtualenv: '', host_filter: '', limit: '' },
    };
    expect(await twice('inventory_source', change)).toEqual([true, false]);
    const { id } = await collection.run('inventory_source', { ...place, name: task.name });
    expect(await get(`inventory_sources/${String(id)}/`)).toMatchObject({
      ...{ source: 'openstack', description: '', overwrite: false, update_on_launch: true },
      ...{ enabled_var: 'status.power', verbosity: 2 },
      summary_fields: { execution_environment: { name: 'EE' }, credential: { name: 'Cloud' } },
    });
    const renamed = { ...place, name: task.name, new_name: 'Renamed' };
    expect(await collection.run('inventory_source', renamed)).toMatchObject({ changed: true, id });
    const exists = { ...place, name: String(id), state: 'exists' };
    expect(await collection.run('inventory_source', exists)).toEqual({ changed: false, id });
    const absent = { ...place, name: 'Renamed', state: 'absent' };
    expect(await twice('inventory_source', absent)).toEqual([true, false]);
  });

  it('reads a project of the organization that the task names', async () => {
    const task = {
      ...{ ...place, name: 'From code', source: 'scm', source_project: 'Code' },
      ...{ source_path: 'hosts', scm_branch: 'main', source_vars: { A: 'b' } },
    };
    expect(await twice('inventory_source', task)).toEqual([true, false]);
    const { id } = await collection.run('inventory_source', { ...place, name: task.name });
    expect(await get(`inventory_sources/${String(id)}/`)).toMatchObject({
      summary_fields: { organization: { name: 'Home' }, source_project: { name: 'Code' } },
    });
    await expect(
      collection.run('inventory_source', { ...task, organization: undefined }),
    ).rejects.toThrow('2 objects');
  });

  it('fails with the error of the server', async () => {
    const task = { ...place, name: 'Broken', source: 'openstack' };
    await expect(collection.run('inventory_source', task)).rejects.toThrow(
      'Credential is required for a cloud source.',
    );
    await expect(
      collection.run('inventory_source', { ...task, source: 'scm', source_project: 'None' }),
    ).rejects.toThrow('nothing for');
  });
});

describe('inventory_source_update', () => {
  const task = { name: 'Updated', inventory: 'Lab', organization: 'Home' };

  beforeAll(() =>
    collection.run('inventory_source', {
      ...{ ...task, source: 'scm', source_project: 'Code', source_path: 'hosts' },
    }),
  );

  it('starts an update, and waits for it if the task requires it', async () => {
    const started = await collection.run('inventory_source_update', task);
    expect(started).toEqual({ changed: true, id: expect.any(Number), status: 'pending' });
    expect(collection.requests.at(-1)).toMatch(/^POST .*\/update\/$/);
    const outcome = collection.run('inventory_source_update', {
      ...{ ...task, wait: true, interval: 0.02, timeout: 20 },
    });
    await eventually(async () => {
      const list = `inventory_updates/?status=pending&id__gt=${String(started.id)}`;
      const [run] = (await get(list)).results as Item[];
      const transitions = test.app.get(RunTransitions, { strict: false });
      await transitions.move([Number(run?.id)], { from: ['pending'], to: 'running' });
      await transitions.move([Number(run?.id)], { from: ['running'], to: 'successful' });
    });
    expect(await outcome).toMatchObject({ changed: true, status: 'successful' });
  });
});

describe('inventory', () => {
  it('is smart, and stays smart if the task omits the kind', async () => {
    const task = { name: 'Smart', organization: 'Home' };
    const smart = { ...task, kind: 'smart', host_filter: 'name__icontains=web' };
    expect(await twice('inventory', smart)).toEqual([true, false]);
    const described = { ...task, description: 'The web', variables: { a: 1 } };
    await collection.run('inventory', described);
    expect(await collection.run('inventory', smart)).toMatchObject({ changed: false });
    const filtered = { ...smart, host_filter: 'name=db' };
    expect(await twice('inventory', filtered)).toEqual([true, false]);
    expect(await twice('inventory', { ...task, state: 'absent' })).toEqual([true, false]);
  });

  it('is constructed of inputs, with the options of its source', async () => {
    for (const name of ['West', 'East']) {
      await collection.run('inventory', { name, organization: 'Home' });
    }
    const task = { name: 'Both', organization: 'Home', kind: 'constructed' };
    const both = { ...task, input_inventories: ['West', 'East'] };
    expect(await twice('inventory', both)).toEqual([true, false]);
    const turned = { ...task, input_inventories: ['East', 'West'] };
    expect(await twice('inventory', turned)).toEqual([true, false]);
    const { id } = await collection.run('inventory', task);
    const inputs = await get(`inventories/${String(id)}/input_inventories/`);
    expect((inputs.results as Item[]).map(({ name }) => name)).toEqual(['East', 'West']);
    const source = {
      ...{ name: 'Auto-created source for: Both', inventory: 'Both', organization: 'Home' },
      ...{ limit: 'a,b', source_vars: { plugin: 'constructed', strict: true } },
    };
    expect(await twice('inventory_source', source)).toEqual([true, false]);
    expect(await get(`constructed_inventories/${String(id)}/`)).toMatchObject({
      ...{ limit: 'a,b', source_vars: '{"plugin": "constructed", "strict": true}' },
    });
    const copy = { name: 'Copy', organization: 'Home', copy_from: 'Both', kind: 'constructed' };
    expect(await collection.run('inventory', copy)).toMatchObject({ copied: true });
  });

  it('cannot change its kind', async () => {
    const task = { name: 'Lab', organization: 'Home', kind: 'constructed' };
    await expect(collection.run('inventory', task)).rejects.toThrow('does not take PATCH');
  });
});
