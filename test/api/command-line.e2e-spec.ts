/** The command line's client: every command of the resources people use, over the wire. */
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from '../../src/database/sql.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import type { Item } from '../client/collection/python-values.js';
import { CommandLineClient } from '../client/command-line/command-line-client.js';

let test: TestApp;
let command: CommandLineClient;
let template: Row;

beforeAll(async () => {
  test = await boot();
  const token = await test.make.token(test.as.users.superuser);
  command = new CommandLineClient(test.url, { token });
  const { make, home } = test;
  const organization = home.organization.id;
  const inventory = await make.inventory({ name: 'Lab', organization });
  const project = await make.project({ name: 'Code', organization });
  await make.credential({ name: 'Key', organization });
  await make.notificationTemplate({ name: 'Chat', organization });
  const row = { project: project.id, inventory: inventory.id, allow_simultaneous: true };
  const asking = { ask_variables_on_launch: true, ask_limit_on_launch: true };
  template = await make.jobTemplate({ ...row, ...asking, name: 'Runs' });
  const workflow = await make.workflowTemplate({ name: 'Flow', organization });
  await make.workflowNode(workflow, { unified_job_template: template.id });
}, 60_000);
afterAll(() => test.close());

interface Life {
  resource: string;
  name?: string;
  fields: Item;
  change: Item;
}

/** Polling interval of the client. */
const ROUND_MS = 20;

const LIVES: Life[] = [
  { resource: 'organizations', fields: { description: 'a' }, change: { description: 'b' } },
  { resource: 'teams', fields: { organization: 'Home' }, change: { description: 'b' } },
  {
    resource: 'users',
    fields: { password: 'a good password', is_superuser: false },
    change: { first_name: 'Ada', is_system_auditor: true },
  },
  { resource: 'projects', fields: { organization: 'Home' }, change: { description: 'b' } },
  {
    resource: 'inventory',
    fields: { organization: 'Home', variables: { a: 1 } },
    change: { variables: { a: [1, 2] } },
  },
  { resource: 'hosts', fields: { inventory: 'Lab', enabled: false }, change: { enabled: true } },
  { resource: 'groups', fields: { inventory: 'Lab' }, change: { variables: { a: 1 } } },
  {
    resource: 'credential_types',
    fields: { kind: 'cloud', inputs: { fields: [{ id: 'room', label: 'Room', type: 'string' }] } },
    change: { injectors: { env: { ROOM: '{{ room }}' } } },
  },
  {
    resource: 'credentials',
    fields: { credential_type: 'Machine', organization: 'Home', inputs: { username: 'ada' } },
    change: { inputs: { username: 'bob' } },
  },
  {
    resource: 'job_templates',
    fields: { project: 'Code', inventory: 'Lab', playbook: 'site.yml', verbosity: 1 },
    change: { extra_vars: { a: 1 }, diff_mode: true },
  },
  {
    resource: 'workflow_job_templates',
    fields: { organization: 'Home', allow_simultaneous: true },
    change: { limit: 'web' },
  },
  {
    resource: 'notification_templates',
    fields: {
      organization: 'Home',
      notification_type: 'chat_a',
      notification_configuration: { token: 'a token', channels: ['ops'] },
    },
    change: { messages: { started: { message: 'It starts.' } } },
  },
];

it.each(LIVES)('$resource are created, listed, modified and deleted', async (life) => {
  const { resource, fields, change } = life;
  const key = resource === 'users' ? 'username' : 'name';
  const name = `a-${resource}`;
  const created = await command.create(resource, { [key]: name, ...fields });
  expect(created).toMatchObject({ id: expect.any(Number), [key]: name });
  expect(await command.list(resource, { [key]: name, order_by: '-id' })).toHaveLength(1);
  const changed = await command.modify(resource, name, change);
  expect(await command.get(resource, name)).toMatchObject({ id: changed.id, [key]: name });
  expect(await command.get(resource, Number(created.id))).toMatchObject({ [key]: name });
  await command.delete(resource, name);
  expect(await command.list(resource, { [key]: name })).toEqual([]);
});

it('the client starts in the same way for every command', async () => {
  await command.list('teams', { organization: 'Home' });
  const roles = ['organizations', 'projects', 'inventories', 'teams', 'credentials'];
  roles.push('job_templates', 'workflow_job_templates', 'instance_groups');
  const { id } = test.home.organization;
  expect(command.requests).toEqual([
    'GET /api/',
    'GET /api/v2/',
    'OPTIONS /api/v2/teams/',
    'OPTIONS /api/v2/teams/1/',
    ...roles.map((name) => `OPTIONS /api/v2/${name}/`),
    ...Array<string>(2).fill('GET /api/v2/organizations/?name=Home'),
    `GET /api/v2/teams/?organization=${id}`,
  ]);
});

it('the client logs in with name and password', async () => {
  const account = { username: 'clerk', password: 'a good password' };
  await test.make.user({ ...account, is_superuser: true });
  const clerk = new CommandLineClient(test.url, account);
  expect(await clerk.create('organizations', { name: 'Of the clerk' })).toMatchObject({
    name: 'Of the clerk',
  });
  await clerk.modify('organizations', 'Of the clerk', { description: 'b' });
  await clerk.delete('organizations', 'Of the clerk');
  const wrong = new CommandLineClient(test.url, { ...account, password: 'another one' });
  await expect(wrong.list('organizations')).rejects.toThrow('401');
});

it('the client reads all pages', async () => {
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  await test.make.hosts(inventory, 60);
  const hosts = await command.list('hosts', { inventory: inventory.id }, { all: true });
  expect(new Set(hosts.map(({ id }) => id)).size).toBe(60);
});

it.each([
  ['teams', 'Home Team', 'job_templates', 'Runs', 'execute'],
  ['users', 'nobody', 'teams', 'Home Team', 'member'],
  ['users', 'nobody', 'organizations', 'Home', 'auditor'],
  ['teams', 'Home Team', 'inventory', 'Lab', 'use'],
] as const)(
  'the client grants and revokes: %s %s, on %s %s, %s',
  async (holders, holder, key, name, role) => {
    const held = async (): Promise<number> => {
      const path = holders === 'teams' ? 'teams/Home Team++Home/' : 'users/nobody/';
      const { body } = await test.as.superuser
        .get(`${path}roles/?role_field=${role}_role`)
        .expect(200);
      return body.count as number;
    };
    const before = await held();
    await command.hold('grant', [holders, holder], [key, name], role);
    expect(await held()).toBe(before + 1);
    await command.hold('revoke', [holders, holder], [key, name], role);
    expect(await held()).toBe(before);
  },
);

it.each([
  ['job_templates', 'Runs', 'notification_templates_started', 'notification_templates', 'Chat'],
  ['projects', 'Code', 'notification_templates_error', 'notification_templates', 'Chat'],
  [
    'workflow_job_templates',
    'Flow',
    'notification_templates_approvals',
    'notification_templates',
    'Chat',
  ],
  ['job_templates', 'Runs', 'credentials', 'credentials', 'Key'],
] as const)(
  'the client associates and disassociates: %s %s, %s',
  async (resource, name, list, others, other) => {
    const place = [resource, name] as const;
    expect(await command.tie('associate', place, list, [others, other])).toMatchObject([
      { name: other },
    ]);
    expect(await command.tie('disassociate', place, list, [others, other])).toEqual([]);
  },
);

describe('launch', () => {
  /** Ends the next run of a type as a worker does, with two lines of output. */
  async function ended(type: string): Promise<number> {
    return eventually(async () => {
      const run = await test.database.row<Row>(sql`
        SELECT * FROM unified_jobs WHERE type = ${type} AND status = 'pending'
        ORDER BY id DESC LIMIT 1`);
      if (!run) throw new Error(`No ${type} waits.`);
      for (const [line, stdout] of ['first', 'second'].entries())
        await test.database.execute(sql`
          INSERT INTO job_events (job_id, counter, uuid, event, event_data, stdout, start_line, end_line)
          VALUES (${run.id}, ${line + 1}, ${`uuid-${run.id}-${line}`}, 'verbose', '{}', ${stdout},
            ${line}, ${line + 1})`);
      const transitions = test.app.get(RunTransitions, { strict: false });
      await transitions.move([run.id], { from: ['pending'], to: 'running' });
      // A run ends some time after its last line; the client asks for lines, then whether it is over.
      await sleep(ROUND_MS * 20);
      await transitions.move([run.id], { from: ['running'], to: 'successful' });
      return run.id;
    });
  }

  it('starts a job with flags and shows its output until it ends', async () => {
    const flags = { limit: 'web', extra_vars: { a: 1 } };
    const [{ run, output }, id] = await Promise.all([
      command.start('job_templates', 'Runs', flags, ROUND_MS / 1000),
      ended('job'),
    ]);
    expect(run).toMatchObject({ id, status: 'successful', failed: false, limit: 'web' });
    expect(output).toBe('first\nsecond\n');
    expect(await command.output('jobs', id)).toMatch(/^first\r?\nsecond/);
  });

  it('starts a workflow and lists its runs at the end', async () => {
    const [{ run }, id] = await Promise.all([
      command.start('workflow_job_templates', 'Flow', {}, ROUND_MS / 1000),
      ended('workflow_job'),
    ]);
    expect(run).toMatchObject({ id, type: 'workflow_job', status: 'successful' });
    expect(command.requests.at(-1)).toMatch(/^GET \/api\/v2\/unified_jobs\?order_by=finished&/);
  });
});
