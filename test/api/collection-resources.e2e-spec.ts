/**
 * The modules of the collection create, repeat without a change, update, rename, look up and delete every
 * kind of object.
 */
import { boot, type TestApp } from '../support/boot.js';
import { CollectionClient, type ModuleName } from '../client/collection/collection-client.js';
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
  await make.host(inventory, { name: 'web-1' });
  await make.host(inventory, { name: 'web-2' });
  await make.group(inventory, { name: 'inner' });
  await make.project({ name: 'Code', organization, scm_update_on_launch: false });
  await make.credential({ name: 'Key', organization });
  for (const name of ['Mail', 'Chat']) await make.notificationTemplate({ name, organization });
  for (const name of ['red', 'green']) await make.row('label', { name, organization });
  const row = { name: 'Runs', project: (await projectRow()).id, inventory: inventory.id };
  const kept = await make.jobTemplate({
    ...row,
    ask_variables_on_launch: true,
    ask_limit_on_launch: true,
  });
  // A label disappears with the last object that carries it.
  for (const name of ['red', 'green'])
    await test.as.superuser.post(`job_templates/${kept.id}/labels/`, { name, organization });
}, 60_000);
afterAll(() => test.close());

async function projectRow(): Promise<Item> {
  return (await test.as.superuser.get('projects/Code++Home/').expect(200)).body as Item;
}

interface Life {
  module: ModuleName;
  /** Fields that locate the object, sent with every task. */
  place?: Item;
  fields: Item;
  change: Item;
  /** Operations that the module of this kind does not have. */
  without?: readonly ('rename' | 'absent' | 'exists')[];
  key?: 'username';
}

const home = { organization: 'Home' };
const webhook = (url: string): Item => ({
  notification_configuration: {
    url,
    http_method: 'POST',
    headers: { 'X-Team': 'ops' },
    disable_ssl_verification: false,
    username: '',
  },
});
const survey = (question: string): Item => ({
  name: 'Survey',
  description: 'What to ask',
  spec: [
    {
      question_name: question,
      question_description: '',
      required: true,
      type: 'multiplechoice',
      variable: 'place',
      min: null,
      max: null,
      default: 'yes',
      choices: ['yes', 'no'],
      new_question: true,
    },
  ],
});

const LIVES: Life[] = [
  {
    module: 'organization',
    fields: { description: 'first', notification_templates_error: ['Mail', 'Chat'] },
    change: { description: 'second', notification_templates_error: ['Chat'] },
    without: ['exists'],
  },
  { module: 'team', place: home, fields: { description: 'a' }, change: { description: '' } },
  {
    module: 'user',
    key: 'username',
    fields: { first_name: 'Ada', email: 'ada@example.org', is_superuser: false },
    change: { last_name: 'L', is_system_auditor: true },
  },
  {
    module: 'credential_type',
    fields: {
      kind: 'cloud',
      description: 'Rooms',
      inputs: { fields: [{ id: 'room', label: 'Room', type: 'string' }], required: ['room'] },
      injectors: { extra_vars: { room: '{{ room }}' }, env: { ROOM: '{{ room }}' } },
    },
    change: { description: 'More rooms', injectors: { extra_vars: { room: 'a {{ room }}' } } },
    without: ['rename', 'exists'],
  },
  {
    module: 'credential',
    place: { ...home, credential_type: 'Machine' },
    fields: { description: 'a', inputs: { username: 'ada' } },
    change: { inputs: { username: 'bob', become_method: 'sudo' } },
    without: ['exists'],
  },
  {
    module: 'project',
    place: home,
    fields: { scm_type: 'manual', local_path: 'checkout_1', description: 'a', timeout: 60 },
    change: { timeout: 90, notification_templates_success: ['Mail'] },
  },
  {
    module: 'inventory',
    place: home,
    fields: { description: 'a', variables: { ports: [80, 443], text: 'ä "quoted": x' } },
    change: { variables: { ports: [], nested: { a: null, b: true } } },
  },
  {
    module: 'host',
    place: { inventory: 'Lab' },
    fields: { description: 'a', enabled: false, variables: { a: 1 } },
    change: { enabled: true, variables: {} },
    without: ['exists'],
  },
  {
    module: 'group',
    place: { inventory: 'Lab' },
    fields: { description: 'a', variables: { a: 1 }, hosts: ['web-1'], children: ['inner'] },
    change: { hosts: ['web-2'], variables: { a: 2 } },
  },
  {
    module: 'job_template',
    place: home,
    fields: {
      project: 'Code',
      inventory: 'Lab',
      playbook: 'site.yml',
      job_type: 'run',
      verbosity: 1,
      forks: 5,
      extra_vars: { a: 1, 'a key': ['x, y', { z: false }] },
      credentials: ['Key'],
      labels: ['red'],
      notification_templates_started: ['Mail'],
      ask_limit_on_launch: true,
      webhook_service: '',
      survey_enabled: true,
      survey_spec: survey('Where?'),
    },
    change: {
      limit: 'web-1',
      extra_vars: {},
      credentials: [],
      labels: ['red', 'green'],
      survey_spec: survey('Whereto?'),
    },
  },
  {
    module: 'workflow_job_template',
    place: home,
    fields: {
      inventory: 'Lab',
      extra_vars: { a: [1, 2] },
      limit: 'all',
      labels: ['green'],
      ask_variables_on_launch: true,
      notification_templates_approvals: ['Chat'],
      survey_spec: survey('Where?'),
    },
    change: { extra_vars: { a: 'b' }, labels: [], scm_branch: 'main' },
    without: ['exists'],
  },
  {
    module: 'schedule',
    place: { unified_job_template: 'Runs' },
    fields: {
      rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1',
      extra_data: { a: 1 },
      limit: 'web-1',
      enabled: true,
    },
    change: { description: 'b', enabled: false, extra_data: { a: { b: 2 } } },
  },
  {
    module: 'label',
    place: home,
    fields: {},
    change: {},
    without: ['absent'],
  },
  {
    module: 'execution_environment',
    fields: { image: 'quay.io/ansible/awx-ee', pull: 'always', organization: 'Home' },
    change: { image: 'quay.io/ansible/awx-ee:24', pull: 'missing' },
  },
  {
    module: 'instance_group',
    fields: { policy_instance_percentage: 34, policy_instance_minimum: 12 },
    change: { policy_instance_minimum: 24 },
  },
  {
    module: 'notification_template',
    place: home,
    fields: { notification_type: 'webhook', ...webhook('http://127.0.0.1:9/a') },
    change: {
      ...webhook('http://127.0.0.1:9/b'),
      messages: { error: { body: '{"a": "{{ job.id }}"}', message: null } },
    },
  },
];

it.each(LIVES)(
  'a $module is created, found, changed, renamed, looked up and deleted, each once',
  async ({ module, place, fields, change, without = [], key = 'name' }) => {
    const name = `A ${module}`.replaceAll(' ', '-');
    const named = (value: string): Item => ({ ...place, [key]: value });
    const run = (task: Item): Promise<Item> => collection.run(module, task);

    const made = await run({ ...named(name), ...fields });
    expect(made).toMatchObject({ changed: true, id: expect.any(Number) });
    const { id } = made;
    expect(await run({ ...named(name), ...fields })).toMatchObject({ changed: false, id });
    expect(await run(named(String(id)))).toEqual({ changed: false, id });

    if (Object.keys(change).length > 0) {
      const changed = { ...named(name), ...fields, ...change };
      expect(await run(changed)).toMatchObject({ changed: true, id });
      expect(await run(changed)).toMatchObject({ changed: false, id });
    }
    if (!without.includes('rename')) {
      const renamed = `${name}-renamed`;
      expect(await run({ ...named(name), [`new_${key}`]: renamed })).toEqual({ changed: true, id });
      expect(await run({ ...named(renamed), [`new_${key}`]: name })).toEqual({ changed: true, id });
    }
    if (!without.includes('exists')) {
      expect(await run({ ...named(name), ...fields, state: 'exists' })).toEqual({
        changed: false,
        id,
      });
      expect(collection.requests.every((request) => request.startsWith('GET'))).toBe(true);
    }
    if (!without.includes('absent')) {
      expect(await run({ ...named(name), state: 'absent' })).toEqual({ changed: true, id });
      expect(await run({ ...named(name), state: 'absent' })).toEqual({ changed: false });
    }
  },
);

it('an input source is created, moved to another store and removed, each once', async () => {
  const type = 'CyberArk Central Credential Provider Lookup';
  for (const name of ['Store one', 'Store two']) {
    await collection.run('credential', {
      ...{ name, organization: 'Home', credential_type: type },
      inputs: { url: 'https://ccp.example.org', app_id: 'one', verify: true },
    });
  }
  const task = {
    ...{ target_credential: 'Key', source_credential: 'Store one', input_field_name: 'password' },
    metadata: { object_query: 'Safe=Ops;Object=db', object_query_format: 'Exact' },
  };
  const twice = async (params: Item): Promise<unknown[]> => [
    (await collection.run('credential_input_source', params)).changed,
    (await collection.run('credential_input_source', params)).changed,
  ];
  expect(await twice(task)).toEqual([true, false]);
  expect(await twice({ ...task, source_credential: 'Store two' })).toEqual([true, false]);
  expect(await twice({ ...task, state: 'absent' })).toEqual([true, false]);
});

it('an instance group is created once, and a container group is refused', async () => {
  const task = { name: 'West', max_forks: 5, is_container_group: false };
  expect(await collection.run('instance_group', task)).toMatchObject({ changed: true });
  expect(await collection.run('instance_group', task)).toMatchObject({ changed: false });
  const pods = collection.run('instance_group', { name: 'Pods', is_container_group: true });
  await expect(pods).rejects.toThrow('Container groups are not supported');
  expect(await collection.run('instance_group', { name: 'West', state: 'absent' })).toMatchObject({
    changed: true,
  });
});
