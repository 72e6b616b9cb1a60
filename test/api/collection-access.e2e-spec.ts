/** The collection's client logs in, and its modules manage users, secrets, tokens and roles. */
import { boot, type TestApp } from '../support/boot.js';
import { CollectionClient } from '../client/collection/collection-client.js';
import type { Item } from '../client/collection/python-values.js';
import { roleOf } from '../client/collection/module-run.js';

const account = { username: 'automation', password: 'a good password' };

let test: TestApp;
let collection: CollectionClient;

beforeAll(async () => {
  test = await boot();
  await test.make.user({ ...account, is_superuser: true });
  const token = await test.make.token(test.as.users.superuser);
  collection = new CollectionClient(test.url, { by: 'given token', token });
}, 60_000);
afterAll(() => test.close());

const get = async (path: string): Promise<Item> =>
  (await test.as.superuser.get(path).expect(200)).body as Item;

describe('authentication', () => {
  it('creates a token and deletes it at the end', async () => {
    const client = new CollectionClient(test.url, { by: 'own token', ...account });
    await client.run('team', { name: 'With a token', organization: 'Home' });
    const sent = client.exchanges.map(({ method, path, status }) => `${status} ${method} ${path}`);
    expect(sent).toEqual([
      '404 POST /api/gateway/v1/tokens/',
      '201 POST /api/v2/tokens/',
      '200 GET /api/v2/organizations/?name=Home',
      expect.stringMatching(/^200 GET \/api\/v2\/teams\/\?organization=\d+&name=With\+a\+token$/),
      '201 POST /api/v2/teams/',
      expect.stringMatching(/^204 DELETE \/api\/v2\/tokens\/\d+\/$/),
    ]);
    expect(client.warnings).toEqual(['No token from /api/gateway/v1/tokens/: 404.']);
    expect((await get(`tokens/?description=Token of a task`)).count).toBe(0);
  });

  it('sends name and password with every request', async () => {
    const client = new CollectionClient(test.url, { by: 'basic', ...account });
    const task = { name: 'With a password', organization: 'Home' };
    expect(await client.run('team', task)).toMatchObject({ changed: true });
    expect(await client.run('team', task)).toMatchObject({ changed: false });
    expect(client.exchanges[0]).toMatchObject({ method: 'GET', path: '/api/v2/me/', status: 200 });
  });

  it('reports a refused login', async () => {
    const wrong = { ...account, password: 'another password' };
    for (const by of ['own token', 'basic'] as const) {
      const client = new CollectionClient(test.url, { by, ...wrong });
      const task = client.run('organization', { name: 'Home' });
      await expect(task).rejects.toThrow('The login was refused (401).');
    }
  });

  it('reports missing permissions', async () => {
    const token = await test.make.token(test.as.users.orgMember);
    const client = new CollectionClient(test.url, { by: 'given token', token });
    const task = client.run('team', { name: 'Forbidden', organization: 'Home' });
    await expect(task).rejects.toThrow('No permission to POST /api/v2/teams/: ');
  });
});

describe('token', () => {
  it('is created, used and deleted with the token itself', async () => {
    const made = await collection.run('token', { description: 'for a play' });
    const token = made.token as Item;
    expect(token).toMatchObject({ type: 'o_auth2_access_token', scope: 'write' });
    const own = new CollectionClient(test.url, { by: 'given token', token: String(token.token) });
    await own.run('organization', { name: 'Home' });
    const deleted = await own.run('token', { existing_token: token, state: 'absent' });
    expect(deleted).toEqual({ changed: true, id: token.id });
    await expect(own.run('organization', { name: 'Home' })).rejects.toThrow('invalid credentials');
  });

  it('is deleted by its id, once', async () => {
    const { id } = await collection.run('token', { scope: 'read' });
    const task = { existing_token_id: String(id), state: 'absent' };
    expect(await collection.run('token', task)).toEqual({ changed: true, id });
    expect(await collection.run('token', task)).toEqual({ changed: false });
  });
});

describe('secrets', () => {
  const inputs = { username: 'ada', password: 'a secret' };
  let made = 0;
  let user: Item;
  let credential: Item;
  beforeEach(() => {
    made += 1;
    user = { username: `jdoe-${made}`, password: 'first password', organization: 'Home' };
    const place = { credential_type: 'Machine', organization: 'Home' };
    credential = { name: `Secret ${made}`, ...place, inputs };
  });

  it('of a new user are accepted together with the organization', async () => {
    const { id } = await collection.run('user', user);
    const members = await get(`organizations/Home/users/?username=${String(user.username)}`);
    expect(members).toMatchObject({ count: 1, results: [{ id }] });
  });

  it('count as changed in every task, unless the task keeps them', async () => {
    await collection.run('user', user);
    expect((await collection.run('user', user)).changed).toBe(true);
    const staying = { ...user, update_secrets: false };
    expect((await collection.run('user', staying)).changed).toBe(false);
    expect((await collection.run('user', { ...staying, email: 'j@example.org' })).changed).toBe(
      true,
    );

    expect((await collection.run('credential', credential)).changed).toBe(true);
    expect((await collection.run('credential', credential)).changed).toBe(true);
    const kept = { ...credential, update_secrets: false };
    expect((await collection.run('credential', kept)).changed).toBe(false);
    const other = { ...kept, inputs: { ...inputs, username: 'bob' } };
    expect((await collection.run('credential', other)).changed).toBe(true);
  });

  it('may be the placeholder that keeps them', async () => {
    await collection.run('credential', credential);
    const kept = { ...credential, inputs: { ...inputs, password: '$encrypted$' } };
    await collection.run('credential', kept);
    const found = await get(`credentials/?name=${String(credential.name)}`);
    expect(found).toMatchObject({ results: [{ inputs: { ...inputs, password: '$encrypted$' } }] });
  });

  it('belong to a user or a team', async () => {
    const own = { name: 'Own', credential_type: 'Machine', inputs: { username: 'x' } };
    await collection.run('user', user);
    for (const owner of [{ user: user.username }, { team: 'Home Team' }]) {
      const task = { ...own, name: `Own ${Object.keys(owner).join()}`, ...owner };
      expect((await collection.run('credential', task)).changed).toBe(true);
      expect((await collection.run('credential', task)).changed).toBe(false);
    }
  });

  it('are copied with their credential', async () => {
    await collection.run('credential', credential);
    const task = { ...credential, inputs: undefined, name: 'Copied', copy_from: credential.name };
    expect(await collection.run('credential', task)).toMatchObject({ changed: true, copied: true });
    const { id } = await collection.run('credential', task);
    expect(await get(`credentials/${String(id)}/`)).toMatchObject({
      name: 'Copied',
      inputs: { username: 'ada', password: '$encrypted$' },
    });
  });
});

describe('role', () => {
  beforeAll(async () => {
    const { make, home } = test;
    const organization = home.organization.id;
    await make.user({ username: 'joe' });
    const inventory = await make.inventory({ name: 'Lab', organization });
    const project = await make.project({ name: 'Code', organization });
    const row = { inventory: inventory.id, project: project.id };
    await make.jobTemplate({ ...row, name: 'Runs' });
    await make.jobTemplate({ ...row, name: 'Checks' });
    await make.workflowTemplate({ name: 'Flow', organization });
    await make.credential({ name: 'Key', organization });
  });

  const ROLES: [role: string, on: Item][] = [
    ['execute', { job_templates: ['Runs', 'Checks'], workflows: ['Flow'] }],
    ['approval', { workflows: ['Flow'], organizations: ['Home'] }],
    ['adhoc', { inventories: ['Lab'] }],
    ['update', { projects: ['Code'], inventories: ['Lab'] }],
    ['use', { credentials: ['Key'], projects: ['Code'], instance_groups: ['default'] }],
    ['member', { target_teams: ['Home Team'], organizations: ['Home'] }],
    ['read', { job_templates: ['Runs'], target_teams: ['Home Team'] }],
    ['admin', { organizations: ['Home'], credentials: ['Key'] }],
    ['auditor', { organizations: ['Home'] }],
    ...['project', 'inventory', 'credential', 'workflow', 'notification', 'job_template'].map(
      (kind): [string, Item] => [`${kind}_admin`, { organizations: ['Home'] }],
    ),
    ['execution_environment_admin', { organizations: ['Home'] }],
  ];

  it.each(ROLES)('%s is granted and revoked once', async (role, on) => {
    const task = { role, users: ['joe'], ...on };
    for (const state of ['present', 'absent']) {
      expect(await collection.run('role', { ...task, state })).toEqual({ changed: true });
      expect(await collection.run('role', { ...task, state })).toEqual({ changed: false });
    }
  });

  it('is granted to several users and teams by one task, within an organization', async () => {
    const task = {
      role: 'use',
      users: ['joe', 'orgMember'],
      teams: ['Home Team'],
      inventories: ['Lab'],
      lookup_organization: 'Home',
    };
    expect((await collection.run('role', task)).changed).toBe(true);
    const lab = await get('inventories/Lab++Home/');
    const { id } = roleOf(lab, 'use_role');
    expect(await get(`roles/${String(id)}/users/`)).toMatchObject({ count: 2 });
    expect(await get(`roles/${String(id)}/teams/`)).toMatchObject({ count: 1 });
  });
});
