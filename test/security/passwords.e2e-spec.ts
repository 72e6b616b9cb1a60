/** Whoever sets a password can act as its user: that must not give him more than he has. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';

const REFUSED = {
  detail: 'Cannot change password: the user holds roles that you do not hold.',
};

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { PASSWORD_CHANGE_ENDS_TOKENS: '1' } });
});
afterAll(() => test.close());

const member = async (): Promise<Row> => {
  const user = await test.make.user();
  await test.make.grant('organization', test.home.organization, 'member_role', { user });
  return user;
};

const password = { password: 'set by somebody else' };

it('an administrator sets that of a member who may less than himself', async () => {
  const { as, home, make } = test;
  const user = await member();
  const project = await make.project({ organization: home.organization.id });
  await make.grant('project', project, 'admin_role', { user });
  await make.grant('team', home.team, 'member_role', { user });
  await as.orgAdmin.patch(`users/${user.id}/`, password).expect(200);
});

it('but not that of one who holds a role elsewhere, by himself or through a team', async () => {
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

it('nor that of one who has a credential of his own', async () => {
  const { as, make } = test;
  const user = await member();
  await make.credential({ user: user.id });
  await as.orgAdmin.patch(`users/${user.id}/`, password).expect(403);
  await (await as.asUser(user)).patch(`users/${user.id}/`, password).expect(200);
});

it('a new one ends the tokens of its user, but for the one it was set with', async () => {
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

it('has at least eight characters', async () => {
  const { as } = test;
  const user = await member();
  const { body } = await as.superuser
    .patch(`users/${user.id}/`, { password: '1234567' })
    .expect(400);
  expect(body).toEqual({ password: ['Password must be at least 8 characters long.'] });
  await as.superuser.patch(`users/${user.id}/`, { password: '12345678' }).expect(200);
});
