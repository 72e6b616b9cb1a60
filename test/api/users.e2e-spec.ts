import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Statuses of actions on a member of the home organization, by persona. */
const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, remove: number]
> = {
  superuser: [200, 200, 201, 204],
  auditor: [200, 403, 403, 403],
  orgAdmin: [200, 200, 403, 204],
  orgMember: [200, 403, 403, 403],
  teamAdmin: [403, 403, 403, 403],
  teamMember: [403, 403, 403, 403],
  // Administrators of any organization see all users.
  outsider: [200, 403, 403, 403],
  nobody: [403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding and ${remove} deleting a member`, async () => {
    const { as, home, make } = test;
    const member = await make.user();
    await make.grant('organization', home.organization, 'member_role', { user: member });
    const url = `users/${member.id}/`;
    await as[name].get(url).expect(read);
    await as[name].patch(url, { first_name: `by ${name}` }).expect(change);
    await as[name].post('users/', { username: `by-${name}`, password: '' }).expect(add);
    await as[name].delete(url).expect(remove);
  });

  it('reads and changes itself, except its name, flags and existence', async () => {
    const { as } = test;
    const url = `users/${as.users[name].id}/`;
    await as[name].get(url).expect(200);
    const { body } = await as[name]
      .patch(url, { first_name: 'Me', email: 'me@example.org' })
      .expect(200);
    expect(body).toMatchObject({
      first_name: 'Me',
      email: 'me@example.org',
      password: '$encrypted$',
      summary_fields: { user_capabilities: { edit: true, delete: false } },
    });
    const { body: refused } = await as[name].delete(url).expect(403);
    expect(refused).toEqual({ detail: 'Cannot delete user.' });
    if (name === 'superuser') return;
    for (const field of ['is_superuser', 'is_system_auditor']) {
      const value = field === 'is_system_auditor' && name === 'auditor' ? false : true;
      const answer = await as[name].patch(url, { [field]: value }).expect(403);
      expect(answer.body).toEqual({ detail: `Cannot change ${field}.` });
    }
    const renamed = await as[name].patch(url, { username: 'renamed' }).expect(403);
    expect(renamed.body).toEqual({ detail: 'Cannot change username.' });
  });

  it('can send its whole object back unchanged', async () => {
    const { as } = test;
    const url = `users/${as.users[name].id}/`;
    const { body } = await as[name].get(url).expect(200);
    await as[name].put(url, body).expect(200);
    await as[name].patch(url, body).expect(200);
  });
});

it('all users see superusers, and members see members', async () => {
  const seen = async (name: PersonaName): Promise<string[]> =>
    (await test.as[name].get(`users/?username__in=${PERSONA_NAMES.join(',')}`)).body.results.map(
      ({ username }: Row) => username,
    );
  expect(await seen('nobody')).toEqual(['nobody', 'superuser']);
  expect(await seen('orgMember')).toEqual(['orgAdmin', 'orgMember', 'superuser']);
  expect(await seen('orgAdmin')).toHaveLength(8);
});

it.each([
  ['', 'This field may not be blank.'],
  ['with blank', /^Enter a valid username/],
  ['semi;colon', /^Enter a valid username/],
  ['\uff41dmin', /^Enter a valid username/],
  ['superuser', 'A user with that username already exists.'],
  ['x'.repeat(151), 'Ensure this field has no more than 150 characters.'],
])('the user name %j is refused', async (username, text) => {
  const { body } = await test.as.superuser.post('users/', { username, password: '' }).expect(400);
  expect(body).toEqual({
    username: [typeof text === 'string' ? text : expect.stringMatching(text)],
  });
});

it('a user whose name has letters of any script logs in, and has a URL with the name', async () => {
  const username = 'jörg.Иванова+東京@example';
  const password = 'a long enough passphrase';
  const created = await test.as.superuser.post('users/', { username, password }).expect(201);
  const login = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const { body } = await test.as.anonymous.with({ authorization: login }).get('me/').expect(200);
  expect(body.results).toMatchObject([{ username }]);
  const named = await test.as.superuser.get(created.body.related.named_url).expect(200);
  expect(named.body.username).toBe(username);
});

it('a user has the keys by which clients recognize local accounts', async () => {
  const { id } = test.as.users.orgMember;
  const local = { auth: [], ldap_dn: '', external_account: null };
  const { body: one } = await test.as.orgMember.get(`users/${id}/`).expect(200);
  const { body: list } = await test.as.orgMember.get(`users/?id=${id}`).expect(200);
  const { body: me } = await test.as.orgMember.get('me/').expect(200);
  for (const shown of [one, list.results[0], me.results[0]]) expect(shown).toMatchObject(local);
  await test.as.orgMember.patch(`users/${id}/`, { ...local, ldap_dn: 'cn=x' }).expect(200);
  expect((await test.as.orgMember.get(`users/${id}/`)).body.ldap_dn).toBe('');
});

it('a wrong e-mail address and a very long password are refused', async () => {
  const { body } = await test.as.superuser
    .post('users/', { username: 'x', email: 'no address', password: 'x'.repeat(129) })
    .expect(400);
  expect(body).toEqual({
    email: ['Enter a valid email address.'],
    password: [expect.stringMatching(/128/)],
  });
});

it('a password or its hash is never shown', async () => {
  const { as } = test;
  const made = await as.superuser
    .post('users/', { username: 'canary', password: 'canary-password' })
    .expect(201);
  expect(made.body.password).toBe('$encrypted$');
  expect(JSON.stringify(made.body)).not.toMatch(/canary-password|scrypt/);
  const activity = await as.superuser.get('activity_stream/?object1=user&page_size=200');
  expect(JSON.stringify(activity.body)).not.toMatch(/canary-password|scrypt/);
  const row = await test.database.row<{ password_hash: string }>(
    sql`SELECT password_hash FROM users WHERE username = 'canary'`,
  );
  expect(row?.password_hash).toMatch(/^\$scrypt\$/);
});

it.each(['$encrypted$', '', null])(
  'the password stays unchanged if %j is sent',
  async (password) => {
    const { as, make } = test;
    const user = await make.user({ password: 'the first one' });
    const hash = async (): Promise<unknown> =>
      (await test.database.row(sql`SELECT password_hash FROM users WHERE id = ${user.id}`))
        ?.password_hash;
    const before = await hash();
    await as.superuser.patch(`users/${user.id}/`, { password }).expect(200);
    expect(await hash()).toBe(before);
  },
);

it('the last superuser cannot be removed', async () => {
  const alone = await boot();
  const { as, make } = alone;
  const { superuser } = as.users;
  const second = await make.user({ is_superuser: true });
  const client = await as.asUser(second);
  await client.delete(`users/${superuser.id}/`).expect(204);
  // A user whom a directory disabled cannot log in, and so does not count.
  const disabled = await make.user({ is_superuser: true });
  await alone.database.execute(sql`UPDATE users SET is_disabled = true WHERE id = ${disabled.id}`);
  const { body } = await client.patch(`users/${second.id}/`, { is_superuser: false }).expect(403);
  expect(body).toEqual({ detail: 'Cannot change is_superuser.' });
  const roles = await client.get('roles/?role_field=system_administrator');
  const resign = { id: second.id, disassociate: true };
  await client.post(`roles/${roles.body.results[0].id}/users/`, resign).expect(403);
  await client.delete(`users/${second.id}/`).expect(403);
  await alone.close();
});

it('administrators cannot change users of other organizations, superusers or auditors', async () => {
  const { as, home, make } = test;
  const shared = await make.user();
  await make.grant('organization', home.organization, 'member_role', { user: shared });
  await make.grant('organization', home.otherOrganization, 'member_role', { user: shared });
  for (const flag of ['is_superuser', 'is_system_auditor']) {
    const user = await make.user({ [flag]: true });
    await make.grant('organization', home.organization, 'member_role', { user });
    await as.orgAdmin.patch(`users/${user.id}/`, { first_name: 'x' }).expect(403);
    await as.orgAdmin.delete(`users/${user.id}/`).expect(403);
  }
  await as.orgAdmin.patch(`users/${shared.id}/`, { first_name: 'x' }).expect(403);
  await as.outsider.patch(`users/${shared.id}/`, { first_name: 'x' }).expect(403);
});

it('superusers manage accounts without an organization, and administrators can add them', async () => {
  const { as, home, make } = test;
  const members = `organizations/${home.organization.id}/users/`;
  const [free, holder] = [await make.user(), await make.user()];
  const elsewhere = await make.project({ organization: home.otherOrganization.id });
  await make.grant('project', elsewhere, 'use_role', { user: holder });
  for (const { id } of [free, holder]) {
    const url = `users/${id}/`;
    const { body } = await as.orgAdmin.delete(url).expect(403);
    expect(body).toEqual({ detail: 'Cannot delete user.' });
    expect((await as.orgAdmin.get(url).expect(200)).body.summary_fields.user_capabilities).toEqual({
      edit: false,
      delete: false,
    });
    await as.orgAdmin.patch(url, { first_name: 'x' }).expect(403);
    await as.orgAdmin.put(url, { username: 'x' }).expect(403);
    await as.orgAdmin.patch(url, { password: 'set by somebody else' }).expect(403);
  }
  await as.orgAdmin.post(members, { id: holder.id }).expect(403);
  await as.superuser.delete(`users/${holder.id}/`).expect(204);
  await as.orgAdmin.post(members, { id: free.id }).expect(204);
  await as.orgAdmin.delete(`users/${free.id}/`).expect(204);
});

it('a user lists readable organizations, teams and other related objects', async () => {
  const { as, home } = test;
  const id = as.users.orgAdmin.id;
  const names = async (list: string): Promise<string[]> =>
    (await as.orgAdmin.get(`users/${id}/${list}/`).expect(200)).body.results.map(
      ({ name }: Row) => name,
    );
  expect(await names('organizations')).toEqual(['Home']);
  expect(await names('admin_of_organizations')).toEqual(['Home']);
  expect(await names('teams')).toEqual(['Home Team']);
  expect(await names('roles')).toEqual(['Admin']);
  for (const list of [
    'projects',
    'credentials',
    'access_list',
    'activity_stream',
    'tokens',
    'personal_tokens',
  ]) {
    await as.orgAdmin.get(`users/${id}/${list}/`).expect(200);
  }
  await as.nobody.get(`users/${id}/teams/`).expect(403);
  expect(home.team.name).toBe('Home Team');
});

it('a user links to all related lists', async () => {
  const { body } = await test.as.orgMember.get(`users/${test.as.users.orgMember.id}/`).expect(200);
  for (const name of [
    'teams',
    'organizations',
    'admin_of_organizations',
    'projects',
    'credentials',
    'roles',
    'activity_stream',
    'access_list',
    'tokens',
    'personal_tokens',
  ]) {
    await test.as.orgMember.get(body.related[name]).expect(200);
  }
});

it('tokens of a user are not visible to other readers of the user', async () => {
  const { body } = await test.as.orgMember
    .get(`users/${test.as.users.orgAdmin.id}/tokens/`)
    .expect(200);
  expect(body.count).toBe(0);
});

it('administrators see only their own organizations if ORG_ADMINS_CAN_SEE_ALL_USERS is off', async () => {
  const confined = await boot({ settings: { ORG_ADMINS_CAN_SEE_ALL_USERS: '0' } });
  const { as, home } = confined;
  const { body } = await as.outsider.get('users/').expect(200);
  expect(body.results.map(({ username }: Row) => username)).toEqual(['outsider', 'superuser']);
  await as.outsider.get(`users/${as.users.orgMember.id}/`).expect(403);
  await as.outsider.get(`teams/${home.team.id}/`).expect(403);
  await as.orgAdmin.get(`teams/${home.team.id}/`).expect(200);
  await confined.close();
});
