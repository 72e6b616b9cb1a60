/** Rights that come with an external login (docs/single-sign-on.md#maps). */
import type { RoleMember } from '../../src/access/role.entity.js';
import { RoleMembersRepository } from '../../src/access/role-members.repository.js';
import { runCommand } from '../../src/cli/commands.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { withSettingsOf } from '../support/boot.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { interleave } from '../support/interleave.js';
import { expectRefused, SingleSignOn } from '../support/single-sign-on.js';

interface Entry {
  summary_fields: { actor?: object };
}

const sso = new SingleSignOn();
const { account, claim, logIn, createAuthenticator, map, rolesOf, userOf } = sso;

beforeEach(() => sso.test.database.execute(sql`DELETE FROM authenticator_maps`));

describe('the roles of a login', () => {
  const isMember = 'Member Home Team';

  it('are granted and revoked with a group', async () => {
    const { team, organization } = sso.test.home;
    await map({ map_type: 'team', team: team.id, role: 'member_role', value: 'ops' });
    await map({
      map_type: 'organization',
      organization: organization.id,
      role: 'auditor_role',
      claim: '/realm/roles',
      value: 'audit',
    });
    const username = account({ groups: ['dev', 'ops'], realm: { roles: ['audit'] } });
    await logIn();
    expect(await rolesOf(username)).toEqual(expect.arrayContaining([isMember, 'Auditor Home']));
    claim({ groups: ['dev'], realm: { roles: ['audit'] } });
    await logIn();
    expect(await rolesOf(username)).toEqual(['Auditor Home']);
    const { id } = await userOf(username);
    const { body } = await sso.test.as.superuser.get(`users/${String(id)}/activity_stream/`);
    const seen = body.results.map((entry: { operation: string; summary_fields: object }) => [
      entry.operation,
      'actor' in entry.summary_fields,
    ]);
    const operations = ['create', 'associate', 'associate', 'disassociate'];
    expect(seen).toEqual(operations.map((operation) => [operation, false]));
  });

  it('are not recorded as changes by the user of the current session', async () => {
    await map({ map_type: 'team', team: sso.test.home.team.id, role: 'member_role', value: 'ops' });
    const browser = new CookieBrowser();
    account();
    await logIn(browser);
    const username = account({ groups: ['ops'] });
    browser.jarOf(sso.provider.issuer).clear();
    await logIn(browser);
    const { id } = await userOf(username);
    const { body } = await sso.test.as.superuser.get(`users/${String(id)}/activity_stream/`);
    const actors = body.results.map(({ summary_fields: { actor } }: Entry) => actor);
    expect(actors).toEqual([undefined, undefined]);
  });

  it('are kept if they are granted by hand during the login that revokes them', async () => {
    const { team } = sso.test.home;
    const { app, database } = sso.test;
    await map({ map_type: 'team', team: team.id, role: 'member_role', value: 'ops' });
    const username = account({ groups: ['ops'] });
    await logIn();
    const held = (await database.row<RoleMember & Row>(sql`
      SELECT * FROM role_members WHERE authenticator_id IS NOT NULL
        AND user_id = (SELECT id FROM users WHERE username = ${username})`))!;
    const members = app.get(RoleMembersRepository, { strict: false });
    await interleave(database, [
      () => members.grantedBy(Number(held.authenticator_id), held.user_id),
      () => members.grant(held.role_id, held.user_id, null),
      ([role]) => members.revoke(role!.id, held.user_id),
    ]);
    expect(await rolesOf(username)).toEqual([isMember]);
  });

  it('do not affect roles granted by hand, before or after', async () => {
    const { team } = sso.test.home;
    await map({ map_type: 'team', team: team.id, role: 'member_role', value: 'ops' });
    const before = account();
    await logIn();
    const user = await userOf(before);
    await sso.test.make.grant('team', team, 'member_role', { user: user as Row });
    claim({ groups: ['ops'] });
    await logIn();
    claim({});
    await logIn();
    expect(await rolesOf(before)).toEqual([isMember]);

    const after = account({ groups: ['ops'] });
    await logIn();
    await sso.test.make.grant('team', team, 'member_role', { user: (await userOf(after)) as Row });
    claim({ preferred_username: after });
    await logIn();
    expect(await rolesOf(after)).toEqual([isMember]);
  });

  it('stay if the map does not revoke them, and are removed with the map', async () => {
    const { team } = sso.test.home;
    const { id } = await map({
      map_type: 'team',
      team: team.id,
      role: 'member_role',
      value: 'ops',
      revoke: false,
    });
    const username = account({ groups: ['ops'] });
    await logIn();
    claim({});
    await logIn();
    expect(await rolesOf(username)).toEqual([isMember]);
    await sso.test.as.superuser.delete(`authenticator_maps/${id}/`).expect(204);
    await logIn();
    expect(await rolesOf(username)).toEqual([]);
  });

  it('include superuser and auditor, and are both revoked', async () => {
    await map({ map_type: 'superuser', value: 'root' });
    await map({ map_type: 'auditor', value: 'audit' });
    const username = account({ groups: ['root', 'audit'] });
    await logIn();
    expect(await userOf(username)).toMatchObject({ is_superuser: true, is_system_auditor: true });
    claim({});
    await logIn();
    expect(await userOf(username)).toMatchObject({ is_superuser: false, is_system_auditor: false });
  });

  it('never remove the flag of a superuser set by hand', async () => {
    await map({ map_type: 'superuser', value: 'root' });
    const username = account();
    await logIn();
    const { id } = await userOf(username);
    await sso.test.as.superuser.patch(`users/${String(id)}/`, { is_superuser: true }).expect(200);
    for (const groups of [[], ['root'], []]) {
      claim({ groups });
      await logIn();
    }
    expect(await userOf(username)).toMatchObject({ is_superuser: true });
    await sso.test.as.superuser.delete(`users/${String(id)}/`).expect(204);
  });

  it.each([
    [
      'again',
      async (id: unknown) => {
        for (const value of [false, true]) {
          const change = { is_superuser: value };
          await sso.test.as.superuser.patch(`users/${String(id)}/`, change).expect(200);
        }
      },
    ],
    [
      'as well',
      async (id: unknown) => {
        const { body } = await sso.test.as.superuser.get('roles/?role_field=system_administrator');
        const grant = { id: body.results[0].id };
        await sso.test.as.superuser.post(`users/${String(id)}/roles/`, grant).expect(204);
      },
    ],
    [
      'on the command line',
      async (id: unknown) => {
        const { body } = await sso.test.as.superuser.get(`users/${String(id)}/`).expect(200);
        const argv = [
          'create-superuser',
          '--username',
          body.username,
          '--password',
          'a new password',
        ];
        expect(await withSettingsOf(sso.test, {}, () => runCommand(argv))).toBe(0);
      },
    ],
  ])('never remove the flag of a superuser set by hand %s', async (_case, setByHand) => {
    await map({ map_type: 'superuser', value: 'root' });
    const username = account({ groups: ['root'] });
    await logIn();
    const { id } = await userOf(username);
    await setByHand(id);
    claim({});
    await logIn();
    expect(await userOf(username)).toMatchObject({ is_superuser: true });
    await sso.test.as.superuser.delete(`users/${String(id)}/`).expect(204);
  });

  it('never remove the last superuser', async () => {
    await map({ map_type: 'superuser', value: 'root' });
    const username = account({ groups: ['root'] });
    await logIn();
    const { id } = await userOf(username);
    const others = sql`UPDATE users SET is_superuser = false WHERE id <> ${Number(id)}`;
    await sso.test.database.execute(others);
    try {
      claim({});
      expect((await logIn()).status).toBe(302);
      const kept = sql`SELECT is_superuser FROM users WHERE id = ${Number(id)}`;
      expect(await sso.test.database.row(kept)).toEqual({ is_superuser: true });
    } finally {
      const first = Number(sso.test.as.users.superuser.id);
      await sso.test.database.execute(
        sql`UPDATE users SET is_superuser = true WHERE id = ${first}`,
      );
    }
    await logIn();
    expect(await userOf(username)).toMatchObject({ is_superuser: false });
  });

  it('are removed by a denied login', async () => {
    const { team } = sso.test.home;
    const always = { trigger: 'always', claim: '' };
    await map({ map_type: 'team', team: team.id, role: 'member_role', ...always });
    await map({ name: 'Leavers', map_type: 'deny', value: 'left' });
    const username = account();
    await logIn();
    expect(await rolesOf(username)).toEqual([isMember]);
    claim({ groups: ['left'] });
    await expectRefused(await logIn(), 'The map &quot;Leavers&quot; denies the login.');
    expect(await rolesOf(username)).toEqual([]);
  });

  it('are not created for a denied login, and neither is the user', async () => {
    await map({ map_type: 'allow', value: 'staff' });
    const username = account();
    await expectRefused(await logIn(), 'No map allows the login.');
    expect(await userOf(username)).toBeUndefined();
  });

  it('are shown by a test, which changes nothing', async () => {
    const { team } = sso.test.home;
    const { id } = await map({
      map_type: 'team',
      team: team.id,
      role: 'member_role',
      value: 'ops',
    });
    const url = `authenticators/${sso.authenticator.id}/test/`;
    const { body } = await sso.test.as.superuser
      .post(url, { claims: { groups: ['ops'] } })
      .expect(200);
    expect(body).toEqual({
      allowed: true,
      refusal: null,
      maps: [id],
      roles: [{ type: 'team', object: team.id, field: 'member_role' }],
    });
    await sso.test.as.auditor.post(url, { claims: {} }).expect(403);
  });
});

describe('an external user', () => {
  it('has no password and cannot set one', async () => {
    const username = account();
    await logIn();
    const { id } = await userOf(username);
    const client = await sso.test.as.asUser({ id: Number(id), username });
    const { body } = await client
      .patch(`users/${String(id)}/`, { password: 'A long new password 1!' })
      .expect(400);
    expect(body).toEqual({ password: ['The password is that of the identity provider idp.'] });
    await sso.test.as.anonymous
      .with({ authorization: `Basic ${Buffer.from(`${username}:`).toString('base64')}` })
      .get('me/')
      .expect(401);
  });

  it('becomes a local user when the authenticator is deleted', async () => {
    const { id, slug } = await createAuthenticator('short-lived');
    const user = await sso.test.make.user();
    await sso.test.database.execute(
      sql`UPDATE users SET external_account = ${String(slug)} WHERE id = ${user.id}`,
    );
    await sso.test.as.superuser.delete(`authenticators/${id}/`).expect(204);
    expect(await userOf(String(user.username))).toMatchObject({ external_account: null });
  });
});
