import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { sampleKeys } from '../support/payloads/ssh-keys.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';
import { samePageQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
let credential: Row;
let host: Row;
beforeAll(async () => {
  test = await boot();
  const organization = test.home.organization.id;
  inventory = await test.make.inventory({ organization });
  credential = await test.make.credential({ organization });
  host = await test.make.host(inventory, { name: 'web-1' });
});
afterAll(() => test.close());

const ping = (fields: object = {}): object => ({
  inventory: inventory.id,
  credential: credential.id,
  module_name: 'ping',
  ...fields,
});
const launch = async (fields: object = {}): Promise<Row> =>
  (await test.as.superuser.post('ad_hoc_commands/', ping(fields)).expect(201)).body;
const columnsOf = async (id: number): Promise<Row> =>
  (await test.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${id}`))!;
const end = (id: number) =>
  test.database.execute(sql`
    UPDATE unified_jobs SET status = 'successful', finished = now(),
      event_processing_finished = true WHERE id = ${id}`);

describe('a launch', () => {
  it('creates a pending command that shows its module and can be filtered by its arguments', async () => {
    const response = await test.as.superuser
      .post('ad_hoc_commands/', ping({ module_name: 'shell', module_args: 'uptime' }))
      .expect(201);
    const { id } = response.body;
    expect(response.headers.location).toBe(`/api/v2/ad_hoc_commands/${id}/`);
    expect(response.body).toMatchObject({
      ...{ type: 'ad_hoc_command', name: 'shell', status: 'pending', launch_type: 'manual' },
      ...{ limit: '', verbosity: 0, forks: 0, job_type: 'run', extra_vars: '' },
      related: { cancel: expect.any(String), relaunch: expect.any(String) },
    });
    expect(response.body).not.toHaveProperty('unified_job_template');
    const found = await test.as.superuser.get('unified_jobs/?name=shell: uptime').expect(200);
    expect(found.body.results.map((one: Row) => one.id)).toEqual([id]);
  });

  it.each([
    [{ inventory: null }, { inventory: ['No valid inventory.'] }],
    [{ credential: null }, { credential: ['This field cannot be blank.'] }],
    [{ module_name: 'copy' }, { module_name: ['"copy" is not a valid choice.'] }],
    [
      { module_name: 'other.place.ping' },
      { module_name: [expect.stringContaining('not a valid')] },
    ],
    [{ module_name: 'command' }, { module_args: ['No argument passed to command module.'] }],
    [
      { module_name: 'ansible.builtin.shell', module_args: ' ' },
      { module_args: ['No argument passed to shell module.'] },
    ],
    [
      { module_args: "{{ {'a': 1} }}" },
      { module_args: ['Inline Jinja variables are not allowed.'] },
    ],
    [{ limit: '--vault-password-file=x' }, { limit: ['A limit must not begin with "-".'] }],
    [{ limit: '@env/passwords' }, { limit: ['A limit must not name a file ("@").'] }],
    [{ forks: 201 }, { forks: ['Maximum number of forks (200) exceeded.'] }],
    [
      { extra_vars: { ansible_a: 1, ansible_b: 2 } },
      { extra_vars: ['ansible_b, ansible_a are prohibited from use in ad hoc commands.'] },
    ],
    [
      { extra_vars: { inventory_hostname: 'x' } },
      { extra_vars: [expect.stringContaining('decide')] },
    ],
  ])('is refused for %p', async (fields, errors) => {
    const response = await test.as.superuser.post('ad_hoc_commands/', ping(fields)).expect(400);
    expect(response.body).toEqual(errors);
  });

  it.each(['localhost', 'web-1:localhost', 'web-1, 127.0.0.1', '::1', 'localhost[0]'])(
    'does not run on the machine of the worker with the limit %s',
    async (limit) => {
      const { body } = await test.as.superuser
        .post('ad_hoc_commands/', ping({ limit }))
        .expect(400);
      expect(body).toEqual({ limit: [expect.stringContaining('is not in the inventory')] });
    },
  );

  it('accepts localhost if the inventory has an enabled host of that name', async () => {
    const own = await test.make.inventory({ organization: test.home.organization.id });
    const local = await test.make.host(own, { name: 'localhost' });
    const body = ping({ inventory: own.id, limit: 'all:!127.0.0.1:localhost' });
    await test.as.superuser.post('ad_hoc_commands/', body).expect(201);
    await test.as.superuser.patch(`hosts/${local.id}/`, { enabled: false }).expect(200);
    await test.as.superuser.post('ad_hoc_commands/', body).expect(400);
  });

  it('accepts localhost if it is a host of the smart inventory', async () => {
    const organization = test.home.organization.id;
    const own = await test.make.inventory({ organization });
    const smart = await test.make.inventory({
      ...{ organization, kind: 'smart', host_filter: `inventory__id=${own.id}` },
    });
    const body = ping({ inventory: smart.id, limit: 'localhost' });
    await test.as.superuser.post('ad_hoc_commands/', body).expect(400);
    await test.make.host(own, { name: 'localhost' });
    await test.as.superuser.post('ad_hoc_commands/', body).expect(201);
  });

  it('accepts a module under its full name', async () => {
    expect(await launch({ module_name: 'ansible.builtin.ping' })).toMatchObject({
      module_name: 'ansible.builtin.ping',
    });
  });

  it('requires a machine credential, and the passwords that the credential prompts for', async () => {
    const organization = test.home.organization.id;
    const other = await test.make.credential({ organization, namespace: 'vault' });
    const refused = await test.as.superuser
      .post('ad_hoc_commands/', ping({ credential: other.id }))
      .expect(400);
    expect(refused.body).toEqual({
      credential: ['You must provide a machine / SSH credential.'],
    });
    const asking = await test.make.credential({ organization, inputs: { password: 'ASK' } });
    const body = ping({ credential: asking.id, module_name: 'nothing' });
    const needs = await test.as.superuser.post('ad_hoc_commands/', body).expect(400);
    expect(needs.body).toEqual({ passwords_needed_to_start: ['ssh_password'] });
    const locked = await test.make.credential({
      organization,
      inputs: { ssh_key_data: sampleKeys().encrypted.pkcs8, ssh_key_unlock: 'ASK' },
    });
    await test.as.superuser
      .post('ad_hoc_commands/', ping({ credential: locked.id }))
      .expect(400, { passwords_needed_to_start: ['ssh_key_unlock'] });
    await launch({ credential: locked.id, ssh_key_unlock: 'unlock me' });
    const command = await launch({ credential: asking.id, ssh_password: 'canary-of-launch' });
    expect(JSON.stringify(command)).not.toContain('canary-of-launch');
    const { start_args: sealed } = await columnsOf(command.id);
    expect(sealed).not.toBe('');
    expect(sealed).not.toContain('canary-of-launch');
  });

  it('shows the permitted modules', async () => {
    const lists = ['ad_hoc_commands/', `inventories/${inventory.id}/ad_hoc_commands/`];
    const modules = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const list of lists) {
        const { body } = await test.as.superuser.options(list).expect(200);
        const { type, choices, required, default: usual } = body.actions.POST.module_name;
        found.push({ type, first: choices[0], count: choices.length, required, usual });
      }
      return found;
    };
    const shipped = { type: 'choice', first: ['command', 'command'], count: 19 };
    const all = { ...shipped, required: false, usual: 'command' };
    expect(await modules()).toEqual([all, all]);
    const names = ['community.general.timezone', 'ping'];
    await test.as.superuser.patch('settings/jobs/', { AD_HOC_COMMANDS: names }).expect(200);
    const few = { type: 'choice', first: [names[0], names[0]], count: 2, required: true };
    expect(await modules()).toEqual([few, few]);
    await test.as.superuser.delete('settings/jobs/').expect(204);
  });

  it('is disabled without modules', async () => {
    await test.as.superuser.patch('settings/jobs/', { AD_HOC_COMMANDS: [] }).expect(200);
    await test.as.superuser.post('ad_hoc_commands/', ping()).expect(403);
    await test.as.superuser.patch('settings/jobs/', { AD_HOC_COMMANDS: 'ping' }).expect(400);
    await test.as.superuser.delete('settings/jobs/').expect(204);
    await launch();
  });

  it('runs once for each Idempotency-Key', async () => {
    const send = () =>
      test.as.superuser.post('ad_hoc_commands/', ping()).set('Idempotency-Key', 'adhoc-1');
    const [first, second] = [await send().expect(201), await send().expect(201)];
    expect(second.body.id).toBe(first.body.id);
  });
});

describe('below hosts and groups', () => {
  it('runs on them only, and ignores the limit of the request', async () => {
    const body = { credential: credential.id, module_name: 'ping', limit: 'all', inventory: 99 };
    const onHost = await test.as.superuser.post(`hosts/${host.id}/ad_hoc_commands/`, body);
    expect(onHost.body).toMatchObject({ inventory: inventory.id, limit: 'web-1' });
    const group = await test.make.group(inventory, { name: 'databases' });
    const onGroup = await test.as.superuser.post(`groups/${group.id}/ad_hoc_commands/`, body);
    expect(onGroup.body).toMatchObject({ inventory: inventory.id, limit: 'databases' });
    const odd = await test.make.group(inventory, { name: 'all:!web' });
    await test.as.superuser.post(`groups/${odd.id}/ad_hoc_commands/`, body).expect(400);
  });

  it.each([
    ['web db', 'web db,'],
    ['2001:db8::7', '2001:db8::7'],
    ['fe80::1%eth0', 'fe80::1%eth0,'],
  ])('runs on the host %s only', async (name, limit) => {
    const odd = await test.make.host(inventory, { name });
    const body = { credential: credential.id, module_name: 'ping' };
    const { body: command } = await test.as.superuser
      .post(`hosts/${odd.id}/ad_hoc_commands/`, body)
      .expect(201);
    expect(command.limit).toBe(limit);
  });

  it('lists the commands that ran on them, also through a smart inventory', async () => {
    const { body: smart } = await test.as.superuser
      .post('inventories/', {
        ...{ name: 'Of web-1', organization: test.home.organization.id, kind: 'smart' },
        host_filter: 'name=web-1',
      })
      .expect(201);
    const [touching, other] = [await launch(), await launch()];
    const through = await launch({ inventory: smart.id });
    const group = await test.make.group(inventory, { name: 'touched' });
    await test.as.superuser.post(`groups/${group.id}/hosts/`, { id: host.id }).expect(204);
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, host_id, counter, event, event_data)
      VALUES (${touching.id}, ${host.id}, 1, 'runner_on_ok', '{}'),
        (${through.id}, ${host.id}, 1, 'runner_on_ok', '{}')`);
    for (const path of [`hosts/${host.id}`, `groups/${group.id}`]) {
      const { body } = await test.as.superuser.get(`${path}/ad_hoc_commands/`).expect(200);
      const ids = body.results.map(({ id }: Row) => id);
      expect(ids).toEqual(expect.arrayContaining([touching.id, through.id]));
      expect(ids).not.toContain(other.id);
    }
    const events = await test.as.superuser.get(`hosts/${host.id}/ad_hoc_command_events/`);
    expect(events.body.results).toMatchObject([
      { type: 'ad_hoc_command_event', ad_hoc_command: touching.id },
      { type: 'ad_hoc_command_event', ad_hoc_command: through.id },
    ]);
    const [{ id }] = events.body.results as [Row];
    await test.as.superuser.get(`ad_hoc_command_events/${id}/`).expect(200);
    await test.as.superuser.get(`ad_hoc_command_events/${id}/stdout/`).expect(404);
  });
});

describe('a relaunch', () => {
  it('applies the permissions and settings of today', async () => {
    const first = await launch({ module_name: 'user', module_args: 'name=ann', verbosity: 2 });
    const needs = await test.as.superuser.get(`ad_hoc_commands/${first.id}/relaunch/`).expect(200);
    expect(needs.body).toEqual({ passwords_needed_to_start: [] });
    const again = await test.as.superuser
      .post(`ad_hoc_commands/${first.id}/relaunch/`, {})
      .expect(201);
    expect(again.body).toMatchObject({
      ...{ ad_hoc_command: again.body.id, launch_type: 'relaunch', module_args: 'name=ann' },
      ...{ verbosity: 2, status: 'pending' },
    });
    expect(again.body.id).not.toBe(first.id);
    await test.as.superuser.patch('settings/jobs/', { AD_HOC_COMMANDS: ['ping'] }).expect(200);
    await test.as.superuser.post(`ad_hoc_commands/${first.id}/relaunch/`, {}).expect(400);
    await test.as.superuser.delete('settings/jobs/').expect(204);
  });

  it('takes only passwords from the request, not fields of the command', async () => {
    const secret = await test.make.credential();
    const elsewhere = await test.make.inventory();
    const { id } = await launch({ limit: 'web-1' });
    const { body } = await test.as.orgAdmin
      .post(`ad_hoc_commands/${id}/relaunch/`, {
        credential_passwords: {
          ssh_password: 'unused',
          credential: String(secret.id),
          inventory: String(elsewhere.id),
          limit: 'all',
          job_type: 'other',
        },
      })
      .expect(201);
    expect(body).toMatchObject({
      ...{ credential: credential.id, inventory: inventory.id },
      ...{ limit: 'web-1', job_type: 'run' },
    });
  });
});

/** Statuses of read, launch, cancel (of another user's command) and delete, by persona. */
const RIGHTS: Record<PersonaName, readonly [number, number, number, number]> = {
  superuser: [200, 201, 202, 204],
  auditor: [200, 403, 403, 403],
  orgAdmin: [200, 201, 202, 204],
  orgMember: [403, 403, 403, 403],
  teamAdmin: [403, 403, 403, 403],
  teamMember: [403, 403, 403, 403],
  outsider: [403, 403, 403, 403],
  nobody: [403, 403, 403, 403],
};

it.each(PERSONA_NAMES)('%s has the permissions of its roles', async (name) => {
  const client = test.as[name];
  const [read, launched, canceled, deleted] = RIGHTS[name];
  const { id } = await launch();
  await client.get(`ad_hoc_commands/${id}/`).expect(read);
  await client.get(`ad_hoc_commands/${id}/events/`).expect(read);
  await client.post('ad_hoc_commands/', ping()).expect(launched);
  await client.post(`ad_hoc_commands/${id}/cancel/`, {}).expect(canceled);
  await end(id);
  await client.delete(`ad_hoc_commands/${id}/`).expect(deleted);
});

it.each([
  ['read_role', 403],
  ['use_role', 403],
  ['update_role', 403],
  ['adhoc_role', 201],
  ['admin_role', 201],
])(
  'a user with %s on the inventory and use on the credential gets %i for a launch',
  async (role, status) => {
    const user = await test.make.user();
    await test.make.grant('inventory', inventory, role, { user });
    await test.make.grant('credential', credential, 'use_role', { user });
    const client = await test.as.asUser(user);
    await client.post('ad_hoc_commands/', ping()).expect(status);
    await client
      .post(`inventories/${inventory.id}/ad_hoc_commands/`, ping({ inventory: undefined }))
      .expect(status);
  },
);

it('a launch requires use on the credential, and its refusal does not show missing passwords', async () => {
  const user = await test.make.user();
  await test.make.grant('inventory', inventory, 'adhoc_role', { user });
  const client = await test.as.asUser(user);
  const organization = test.home.organization.id;
  const asking = await test.make.credential({ organization, inputs: { password: 'ASK' } });
  await client.post('ad_hoc_commands/', ping({ credential: asking.id })).expect(403);
});

it('a command is not a template, and cannot be changed', async () => {
  const { id } = await launch();
  await test.as.superuser.patch(`ad_hoc_commands/${id}/`, {}).expect(405);
  await test.as.superuser.put(`ad_hoc_commands/${id}/`, {}).expect(405);
  await test.as.superuser.delete(`ad_hoc_commands/${id}/`).expect(403);
  const templates = await test.as.superuser.get('unified_job_templates/').expect(200);
  expect(templates.body.results.map(({ type }: Row) => type)).not.toContain('ad_hoc_command');
  await test.as.superuser.options('ad_hoc_commands/1/create/').expect(404);
});

it('a list of commands needs a constant number of statements', async () => {
  for (let made = 0; made < 10; made += 1) await launch();
  await samePageQueries(test.database, test.as.orgAdmin, 'ad_hoc_commands/?order_by=-id', [1, 10]);
});
