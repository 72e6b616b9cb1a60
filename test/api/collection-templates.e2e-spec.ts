/** Tasks of the collection's client handle nodes, copies, members and look-ups, beyond single objects. */
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { boot, type TestApp } from '../support/boot.js';
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
  const inventory = await make.inventory({ name: 'Lab', organization });
  const project = await make.project({ name: 'Code', organization });
  await make.credential({ name: 'Key', organization });
  await make.row('label', { name: 'red', organization });
  const row = { inventory: inventory.id, project: project.id };
  const asking = {
    ...row,
    ask_variables_on_launch: true,
    ask_limit_on_launch: true,
    ask_verbosity_on_launch: true,
    ask_credential_on_launch: true,
    ask_labels_on_launch: true,
    ask_inventory_on_launch: true,
    ask_instance_groups_on_launch: true,
  };
  await make.jobTemplate({ ...asking, name: 'Build' });
  await make.jobTemplate({ ...asking, name: 'Deploy' });
}, 60_000);
afterAll(() => test.close());

const get = async (path: string): Promise<Item> =>
  (await test.as.superuser.get(path).expect(200)).body as Item;
const results = async (path: string): Promise<Item[]> => (await get(path)).results as Item[];
const home = { organization: 'Home' };

/** Runs a task that must report a change the first time, and none the second time. */
async function twice(...[module, params]: Parameters<CollectionClient['run']>): Promise<Item> {
  const first = await collection.run(module, params);
  expect(first.changed).toBe(true);
  expect(await collection.run(module, params)).toMatchObject({ changed: false });
  return first;
}

describe('nodes of a workflow, one for each task', () => {
  const place = { workflow_job_template: 'Flow', organization: 'Home' };
  const node = (identifier: string, fields: Item): Item => ({ ...place, identifier, ...fields });

  beforeAll(() => collection.run('workflow_job_template', { name: 'Flow', ...home }));

  it('are created with prompts and lists, and changed', async () => {
    const prompts = {
      unified_job_template: 'Build',
      lookup_organization: 'Home',
      extra_data: { a: { b: [1] } },
      limit: 'web',
      verbosity: '1',
      inventory: 'Lab',
      credentials: ['Key'],
      labels: ['red'],
      instance_groups: ['default'],
      all_parents_must_converge: true,
    };
    await twice('workflow_job_template_node', node('prompted', prompts));
    await twice('workflow_job_template_node', node('prompted', { ...prompts, credentials: [] }));
    await twice('workflow_job_template_node', node('prompted', { ...prompts, verbosity: '2' }));
  });

  it('are linked to each other, and deleted once', async () => {
    await twice('workflow_job_template_node', node('build', { unified_job_template: 'Build' }));
    await twice('workflow_job_template_node', node('deploy', { unified_job_template: 'Deploy' }));
    const build = node('build', { success_nodes: ['deploy'], failure_nodes: [] });
    await twice('workflow_job_template_node', build);
    await twice('workflow_job_template_node', node('build', { success_nodes: [] }));
    const absent = node('deploy', { state: 'absent' });
    expect(await collection.run('workflow_job_template_node', absent)).toMatchObject({
      changed: true,
    });
    expect(await collection.run('workflow_job_template_node', absent)).toEqual({ changed: false });
  });

  it('can be approval nodes', async () => {
    const approval = { approval_node: { name: 'Release?', timeout: 900 } };
    const made = await twice('workflow_job_template_node', node('ask', approval));
    expect(made.name).toBe('Release?');
    const later = { approval_node: { name: 'Release?', description: 'Look first.', timeout: 60 } };
    await twice('workflow_job_template_node', node('ask', later));
    expect(await results('workflow_job_template_nodes/?identifier=ask')).toMatchObject([
      {
        summary_fields: { unified_job_template: { name: 'Release?', description: 'Look first.' } },
      },
    ]);
  });
});

describe('a workflow with its nodes in one task', () => {
  const template = (name: string): Item => ({
    unified_job_template: { name, type: 'job_template', organization: { name: 'Home' } },
  });
  const nodes = [
    {
      identifier: 'build',
      ...template('Build'),
      extra_data: { a: 1 },
      limit: 'web',
      inventory: { name: 'Lab', organization: { name: 'Home' } },
      related: {
        success_nodes: [{ identifier: 'deploy' }],
        failure_nodes: [],
        always_nodes: [{ identifier: 'clean' }],
        credentials: [{ name: 'Key', organization: { name: 'Home' } }],
        labels: [{ name: 'red', organization: { name: 'Home' } }],
      },
    },
    { identifier: 'deploy', all_parents_must_converge: true, ...template('Deploy') },
    { identifier: 'clean', ...template('Build') },
  ];
  const task = { name: 'Inline', ...home, workflow_nodes: nodes };
  afterEach(() =>
    collection.run('workflow_job_template', { name: 'Inline', ...home, state: 'absent' }),
  );
  const identifiers = async (): Promise<unknown[]> =>
    (
      await results(
        'workflow_job_template_nodes/?workflow_job_template__name=Inline&order_by=identifier',
      )
    ).map(({ identifier }) => identifier);

  it('is created with its edges, and does not change when the task is repeated', async () => {
    await twice('workflow_job_template', task);
    expect(await identifiers()).toEqual(['build', 'clean', 'deploy']);
    const flow = await get('workflow_job_templates/Inline++Home/');
    const [first] = await results(
      `workflow_job_template_nodes/?identifier=build&workflow_job_template=${String(flow.id)}`,
    );
    expect(first).toMatchObject({
      extra_data: { a: 1 },
      limit: 'web',
      success_nodes: [expect.any(Number)],
      always_nodes: [expect.any(Number)],
      failure_nodes: [],
    });
  });

  it('loses a node with the state absent, and all nodes when they are recreated', async () => {
    const without = nodes.map((node) =>
      node.identifier === 'clean' ? { ...node, state: 'absent', related: undefined } : node,
    );
    const [first, ...others] = without;
    await collection.run('workflow_job_template', task);
    const tied = { ...first, related: { success_nodes: [{ identifier: 'deploy' }] } };
    await collection.run('workflow_job_template', { ...task, workflow_nodes: [tied, ...others] });
    expect(await identifiers()).toEqual(['build', 'deploy']);
    await collection.run('workflow_job_template', { ...task, destroy_current_nodes: true });
    expect(await identifiers()).toEqual(['build', 'clean', 'deploy']);
  });

  it('contains an approval between its nodes', async () => {
    const asking = {
      identifier: 'ask',
      unified_job_template: { name: 'Release?', type: 'workflow_approval', timeout: 60 },
      related: { success_nodes: [{ identifier: 'clean' }] },
    };
    const flow = { ...task, workflow_nodes: [...nodes, asking] };
    await collection.run('workflow_job_template', task);
    expect((await collection.run('workflow_job_template', flow)).changed).toBe(true);
    // The module sends approval fields without a value, and reports that as a change.
    await collection.run('workflow_job_template', flow);
    expect(await identifiers()).toEqual(['ask', 'build', 'clean', 'deploy']);
  });

  it('is copied', async () => {
    await collection.run('workflow_job_template', { ...task, name: 'Plain' });
    const copy = { name: 'Copied flow', copy_from: 'Plain' };
    expect(await collection.run('workflow_job_template', copy)).toMatchObject({
      changed: true,
      copied: true,
    });
    expect((await collection.run('workflow_job_template', copy)).changed).toBe(false);
  });
});

it.each([
  ['project', 'Code'],
  ['inventory', 'Lab'],
  ['job_template', 'Build'],
] as const)('a %s is copied once', async (module, original) => {
  const task = { name: `Copied ${module}`, copy_from: original, ...home };
  expect(await collection.run(module, task)).toMatchObject({ changed: true, copied: true });
  expect((await collection.run(module, task)).changed).toBe(false);
});

it('the export of a template contains everything it refers to', async () => {
  const task = {
    name: 'Ordered',
    ...home,
    project: 'Code',
    inventory: 'Lab',
    playbook: 'site.yml',
    credentials: ['Key'],
    labels: ['red'],
  };
  await collection.run('job_template', task);
  const { id } = await collection.run('job_template', task);
  const organization = test.home.organization.id;
  expect(collection.requests).toEqual([
    'GET /api/v2/organizations/?name=Home',
    `GET /api/v2/job_templates/?organization=${organization}&name=Ordered`,
    'GET /api/v2/inventories/?name=Lab',
    `GET /api/v2/projects/?organization=${organization}&name=Code`,
    'GET /api/v2/credentials/?name=Key',
    `GET /api/v2/labels/?organization=${organization}&name=red`,
    `GET /api/v2/job_templates/${String(id)}/credentials/`,
    `GET /api/v2/job_templates/${String(id)}/labels/`,
  ]);
});

it('a task removes a survey, and reports a survey with a secret as changed every time', async () => {
  const task = { name: 'Asked', ...home, project: 'Code', inventory: 'Lab', playbook: 'site.yml' };
  const question = { question_name: 'P?', variable: 'p', type: 'password', default: 'a secret' };
  const survey_spec = { name: 'S', description: '', spec: [{ ...question, required: true }] };
  for (let times = 0; times < 2; times += 1) {
    const outcome = await collection.run('job_template', { ...task, survey_spec });
    expect(outcome.changed).toBe(true);
  }
  await twice('job_template', { ...task, survey_spec: {} });
});

it('a task keeps the members of a group that it should preserve', async () => {
  const task = { name: 'web', inventory: 'Lab' };
  for (const name of ['web-1', 'web-2', 'web-3'])
    await collection.run('host', { name, inventory: 'Lab' });
  const hosts = async (): Promise<unknown[]> =>
    (await results('groups/web++Lab++Home/hosts/?order_by=name')).map(({ name }) => name);
  await twice('group', { ...task, hosts: ['web-1', 'web-2'] });
  await twice('group', { ...task, hosts: ['web-3'], preserve_existing_hosts: true });
  expect(await hosts()).toEqual(['web-1', 'web-2', 'web-3']);
  await twice('group', { ...task, hosts: ['web-3'] });
  expect(await hosts()).toEqual(['web-3']);
});

it('a task sends lists of instance groups in their order', async () => {
  await twice('organization', { name: 'Home', instance_groups: ['default'] });
  await twice('inventory', { name: 'Lab', ...home, instance_groups: ['default'] });
  await twice('job_template', { name: 'Build', instance_groups: ['default'] });
});

it('a task finds an object with a numeric name, and one by its named URL', async () => {
  const { id } = await collection.run('team', { name: '12345', ...home });
  expect(await collection.run('team', { name: '12345', ...home })).toEqual({ changed: false, id });
  const named = { name: 'Lab++Home', ...home, description: 'by its URL' };
  expect((await collection.run('inventory', named)).changed).toBe(true);
  expect(collection.requests).toContain('GET /api/v2/inventories/Lab++Home/');
  const missing = collection.run('inventory', { ...named, name: 'Nothing++Home' });
  await expect(missing).rejects.toThrow('Nothing was found at');
});

it('a task fails if several objects have the name', async () => {
  for (const organization of ['Home', 'Elsewhere'])
    await collection.run('inventory', { name: 'Twin', organization });
  const task = { name: 'Ambiguous', project: 'Code', playbook: 'site.yml', inventory: 'Twin' };
  await expect(collection.run('job_template', task)).rejects.toThrow('2 objects for');
});

it('a task schedules a template of an organization, with prompts and lists', async () => {
  const task = {
    name: 'Nightly',
    ...home,
    unified_job_template: 'Build',
    inventory: 'Lab++Home',
    rrule: 'DTSTART;TZID=Europe/Berlin:20300101T020000 RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,FR',
    credentials: ['Key'],
    labels: ['red'],
    instance_groups: ['default'],
    verbosity: 2,
  };
  await twice('schedule', task);
  await twice('schedule', { ...task, credentials: [] });
});

const CONFIGURATIONS = Object.entries(configurationsFor({ http: 9 }));

describe.each(CONFIGURATIONS)('a notification template of the type %s', (kind, configuration) => {
  const task = (): Item => ({
    name: `Tell ${kind}`,
    ...home,
    notification_type: kind,
    notification_configuration: configuration,
  });

  it('is created, kept, renamed and deleted', async () => {
    const { id } = await collection.run('notification_template', task());
    const again = await collection.run('notification_template', task());
    // An object with a secret counts as changed whenever the secret is sent.
    const { notification_configuration: shown } = await get(
      `notification_templates/${String(id)}/`,
    );
    expect(again).toMatchObject({ changed: JSON.stringify(shown).includes('$encrypted$'), id });
    const plain = { ...task(), notification_configuration: {} };
    expect(await collection.run('notification_template', plain)).toEqual({ changed: false, id });
    const renamed = { ...plain, new_name: `Told ${kind}` };
    expect((await collection.run('notification_template', renamed)).changed).toBe(true);
    const absent = { ...plain, name: `Told ${kind}`, state: 'absent' };
    expect((await collection.run('notification_template', absent)).changed).toBe(true);
  });
});

it('a task refuses unknown notification types with an explanation', async () => {
  const task = { name: 'Other', ...home, notification_type: 'pigeon' };
  const refused = collection.run('notification_template', {
    ...task,
    notification_configuration: { url: 'x' },
  });
  await expect(refused).rejects.toThrow('notification_type');
});
