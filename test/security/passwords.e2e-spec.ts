/**
 * A user who sets a password can log in as its owner, so setting it requires all permissions of the owner.
 */
import { TokensService } from '../../src/auth/tokens.service.js';
import { PasswordHasher, PasswordQueueFull } from '../../src/common/crypto/password-hash.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { endedOrWaiting } from '../support/interleave.js';

const REFUSED = {
  detail: 'Cannot change password: the user holds roles that you do not hold.',
};

const POOL_SIZE = 3;

let test: TestApp;
beforeAll(async () => {
  test = await boot({
    settings: { PASSWORD_CHANGE_ENDS_TOKENS: '1', DATABASE_POOL_SIZE: String(POOL_SIZE) },
  });
});
afterAll(() => test.close());

const member = async (): Promise<Row> => {
  const user = await test.make.user();
  await test.make.grant('organization', test.home.organization, 'member_role', { user });
  return user;
};

const password = { password: 'set by somebody else' };

it('an administrator can set the password of a member with fewer permissions', async () => {
  const { as, home, make } = test;
  const user = await member();
  const project = await make.project({ organization: home.organization.id });
  await make.grant('project', project, 'admin_role', { user });
  await make.grant('team', home.team, 'member_role', { user });
  await as.orgAdmin.patch(`users/${user.id}/`, password).expect(200);
});

it('the password of a member with other roles, direct or by a team, cannot be set', async () => {
  const { as, home, make } = test;
  const elsewhere = await make.project({ organization: home.otherOrganization.id });
  const direct = await member();
  await make.grant('project', elsewhere, 'use_role', { user: direct });
  const team = await make.team({ organization: home.otherOrganization.id });
  await make.grant('project', elsewhere, 'update_role', { team });
  const byTeam = await member();
  await make.grant('team', team, 'member_role', { user: byTeam });
  for (const { id } of [direct, byTeam]) {
    const { body } = await as.orgAdmin.patch(`users/${id}/`, password).expect(403);
    expect(body).toEqual(REFUSED);
    await as.orgAdmin.patch(`users/${id}/`, { first_name: 'Ada' }).expect(200);
    await as.superuser.patch(`users/${id}/`, password).expect(200);
  }
});

it('the password of a member who owns a credential cannot be set', async () => {
  const { as, make } = test;
  const user = await member();
  await make.credential({ user: user.id });
  await as.orgAdmin.patch(`users/${user.id}/`, password).expect(403);
  await (await as.asUser(user)).patch(`users/${user.id}/`, password).expect(200);
});

it('a new password revokes all tokens of its user except the current one', async () => {
  const { as } = test;
  const user = await member();
  const [own, other] = [await as.asUser(user), await as.asUser(user)];
  await own.patch(`users/${user.id}/`, { first_name: 'Ada' }).expect(200);
  await other.get('me/').expect(200);
  await own.patch(`users/${user.id}/`, password).expect(200);
  await own.get('me/').expect(200);
  await other.get('me/').expect(401);
  await as.superuser.patch(`users/${user.id}/`, { password: 'set once more' }).expect(200);
  await own.get('me/').expect(401);
});

it('a new password also revokes the tokens of a refresh in progress', async () => {
  const { as, home } = test;
  const user = await member();
  const { body: app } = await as.superuser
    .post('applications/', {
      ...{ name: 'Refreshing', organization: home.organization.id, client_type: 'public' },
      authorization_grant_type: 'authorization-code',
      redirect_uris: 'https://client.example.org/cb',
    })
    .expect(201);
  const own = await as.asUser(user);
  const { body: pair } = await own.post('tokens/', { application: app.id }).expect(201);
  const tokens = test.app.get(TokensService, { strict: false });
  const add = tokens.addPair.bind(tokens);
  let change: Promise<unknown> = Promise.resolve();
  jest.spyOn(tokens, 'addPair').mockImplementationOnce(async (...values) => {
    change = Promise.resolve(as.superuser.patch(`users/${user.id}/`, password).expect(200));
    await endedOrWaiting(test.database, change);
    return add(...values);
  });
  const refresh = (token: unknown) =>
    as.anonymous.post('/api/o/token/', {
      grant_type: 'refresh_token',
      client_id: app.client_id,
      refresh_token: token,
    });
  const { body: next } = await refresh(pair.refresh_token).expect(200);
  await change;
  const authorization = `Bearer ${String(next.access_token)}`;
  await as.anonymous.with({ authorization }).get('me/').expect(401);
  await refresh(next.refresh_token).expect(400);
});

it('a password has at least eight characters', async () => {
  const { as } = test;
  const user = await member();
  const { body } = await as.superuser
    .patch(`users/${user.id}/`, { password: '1234567' })
    .expect(400);
  expect(body).toEqual({ password: ['Password must be at least 8 characters long.'] });
  await as.superuser.patch(`users/${user.id}/`, { password: '12345678' }).expect(200);
});

describe('the hash of a password', () => {
  const hash = jest.spyOn(PasswordHasher.prototype, 'hash');
  beforeEach(() => hash.mockReset());
  afterAll(() => hash.mockRestore());

  let names = 0;
  const account = (): object => ({ username: `hashed-${(names += 1)}`, ...password });

  it('is not computed for a caller who may not set the password', async () => {
    const { as, home } = test;
    const refusals = await Promise.all([
      ...Array.from({ length: 80 }, () => as.nobody.post('users/', account())),
      as.orgAdmin.post('users/', account()),
      as.orgAdmin.post('users/', { ...account(), is_superuser: true }),
      as.orgMember.post(`organizations/${home.organization.id}/users/`, account()),
      as.orgAdmin.post(`organizations/${home.otherOrganization.id}/users/`, account()),
      as.nobody.patch(`users/${as.users.orgAdmin.id}/`, password),
      as.orgAdmin.put(`users/${as.users.superuser.id}/`, account()),
    ]);
    expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([403]));
    expect(hash).not.toHaveBeenCalled();
  });

  it('does not occupy a database connection', async () => {
    const { as, home } = test;
    let release: (hash: string) => void = () => undefined;
    const released = new Promise<string>((resolve) => (release = resolve));
    hash.mockReturnValue(released);
    const user = await member();
    const path = `users/${user.id}/`;
    const changes = [
      ...Array.from({ length: POOL_SIZE }, () => as.superuser.post('users/', account())),
      as.orgAdmin.post(`organizations/${home.organization.id}/users/`, account()),
      as.superuser.patch(path, password),
    ].map((sent) => sent.then(({ status }) => status));
    await eventually(() => expect(hash).toHaveBeenCalledTimes(changes.length));
    await as.orgMember.get('organizations/').expect(200);
    await as.superuser.patch(path, { first_name: 'Ada' }).expect(200);
    release('hashed');
    expect(await Promise.all(changes)).toEqual([...Array(POOL_SIZE + 1).fill(201), 200]);
    const stored = test.database.row(sql`SELECT * FROM users WHERE id = ${user.id}`);
    expect(await stored).toMatchObject({ first_name: 'Ada', password_hash: 'hashed' });
  });

  it('is refused if the caller has too many requests in progress', async () => {
    hash.mockRejectedValue(new PasswordQueueFull());
    const { headers } = await test.as.superuser.post('users/', account()).expect(429);
    expect(headers['retry-after']).toBe('1');
  });
});
