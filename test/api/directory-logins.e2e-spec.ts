/**
 * Logins with an LDAP directory (docs/single-sign-on.md#ldap). It starts OpenLDAP's slapd: the escaping
 * of filters and DNs, the results of binds, StartTLS and the groups are those of a real server.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SecondFactors } from '../../src/auth/second-factors.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { ADMIN, Directory, GROUPS, PEOPLE } from '../support/fakes/directory.js';
import { TEST_CERTIFICATE } from '../support/fakes/test-certificate.js';

let test: TestApp;
let directory: Directory;
let authenticator: Row;
let names = 0;

beforeAll(async () => {
  test = await boot();
  directory = await Directory.start();
  authenticator = await test.make.row('authenticator', {
    name: 'ldap',
    kind: 'ldap',
    configuration: configuration(),
  });
});
afterAll(async () => {
  await directory.close();
  await test.close();
});

const configuration = (changes: object = {}): object => ({
  servers: directory.url,
  user_base: PEOPLE,
  ...ADMIN,
  ...changes,
});

const configure = (changes: object): unknown =>
  test.as.superuser
    .patch(`authenticators/${authenticator.id}/`, { configuration: configuration(changes) })
    .expect(200);

const person = async (attributes = {}): Promise<string> => {
  const name = `person-${(names += 1)}`;
  await directory.person(name, attributes);
  return name;
};

const dnOf = (name: string): string => `uid=${name},${PEOPLE}`;

const map = (fields: object): Promise<Row> =>
  test.make.row('authenticator_map', {
    name: `map ${(names += 1)}`,
    authenticator: authenticator.id,
    trigger: 'equals',
    claim: 'groups',
    ...fields,
  });

/** Sends HTTP Basic with another spelling of the name each time, so that no success is remembered. */
const basic = (name: string, password = `${name}-secret`): ApiClient =>
  test.as.anonymous.with({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

const meOf = async (client: ApiClient): Promise<Record<string, unknown>> =>
  (await client.get('me/').expect(200)).body.results[0];

const rolesOf = async (client: ApiClient): Promise<string[]> => {
  const { id } = await meOf(client);
  const { body } = await test.as.superuser.get(`users/${String(id)}/roles/`).expect(200);
  return body.results.map(({ name }: { name: string }) => name);
};

/** Every login of the test asks the directory. */
const forget = (name: string): string => name.toUpperCase();

describe('a login with a directory', () => {
  it('creates the user, by HTTP Basic and on the login page', async () => {
    const name = await person();
    const user = await meOf(basic(name));
    expect(user).toMatchObject({
      username: name,
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.com',
      is_superuser: false,
      external_account: 'ldap',
    });
    const identity = await test.database.row<{ subject: string }>(sql`
      SELECT subject FROM external_identities WHERE user_id = ${Number(user.id)}`);
    expect(identity?.subject).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    const form = await test.as.anonymous.with({ accept: 'text/html' }).get('/api/login/');
    const csrf = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const cookie = String(form.headers['set-cookie']).split(',').join('; ');
    const login = await test.as.anonymous
      .with({ cookie, accept: 'text/html' })
      .post('/api/login/', {})
      .type('form')
      .send({ username: forget(name), password: `${name}-secret`, csrfmiddlewaretoken: csrf });
    expect(login.status).toBe(302);
    expect(String(login.headers['set-cookie'])).toContain('controller_session=acs_');
  });

  it('is cached for a minute, for the same password only', async () => {
    const name = await person();
    await meOf(basic(name));
    await directory.stop();
    await meOf(basic(name));
    await basic(name, 'other').get('me/').expect(503);
    await test.as.superuser.patch(`authenticators/${authenticator.id}/`, { enabled: false });
    await basic(name).get('me/').expect(401);
    await test.as.superuser.patch(`authenticators/${authenticator.id}/`, { enabled: true });
    await directory.run();
    await configure({});
    await test.as.superuser.post(`authenticators/${authenticator.id}/test/`, {}).expect(200);
  });

  it.each([
    ['a wrong password', (name: string) => basic(name, 'wrong')],
    ['an empty password', (name: string) => basic(name, '')],
    ['a name with filter characters', (name: string) => basic(`${name}*`, `${name}-secret`)],
    ['a name that closes the filter', (name: string) => basic('*)(uid=*', `${name}-secret`)],
    ['an unknown name', () => basic('unknown')],
  ])('is refused with %s', async (_name, client) => {
    await client(await person())
      .get('me/')
      .expect(401);
  });

  it.each(['a,b', 'a+b', 'a b'])('finds the user %p by a DN template', async (name) => {
    const username_attribute = 'cn';
    const cn = `template-${(names += 1)}`;
    await directory.person(name, { cn, userPassword: 'secret' });
    await configure({ username_attribute, user_dn_template: `uid={username},${PEOPLE}` });
    expect(await meOf(basic(name, 'secret'))).toMatchObject({ username: cn });
    await basic(`${name},${PEOPLE}`, 'secret').get('me/').expect(401);
    await configure({});
  });

  it('with the name of a local user is checked locally, and the users are never linked', async () => {
    const name = await person();
    const local = await test.make.row('user', { username: name, password: 'A-local-password-1' });
    expect(await meOf(basic(name, 'A-local-password-1'))).toMatchObject({ id: local.id });
    await basic(name).get('me/').expect(401);
    const other = await person();
    await test.make.user({ username: other });
    const { body } = await basic(other).get('me/').expect(403);
    expect(body.detail).toContain('belongs to another account');
  });
});

describe('groups of a directory', () => {
  it.each([
    ['memberOf', { objectClass: 'groupOfNames' }, 'member', dnOf],
    ['member', { objectClass: 'groupOfNames' }, 'member', dnOf],
    ['uniqueMember', { objectClass: 'groupOfUniqueNames' }, 'uniqueMember', dnOf],
    [
      'memberUid',
      { objectClass: 'posixGroup', gidNumber: '7' },
      'memberUid',
      (name: string) => name,
    ],
  ])('grant and revoke roles: %s', async (kind, fields, attribute, memberOf) => {
    const { home, as } = test;
    const name = await person();
    const other = await person();
    const members = { [attribute]: [memberOf(name), memberOf(other)] };
    const group = await directory.group(`group-${kind}`, { ...fields, ...members });
    await configure({ group_kind: kind, group_base: GROUPS });
    await map({
      value: `group-${kind}`,
      map_type: 'team',
      team: home.team.id,
      role: 'member_role',
    });
    expect(await rolesOf(basic(name))).toEqual(['Member']);
    const { id } = await meOf(basic(name));
    const project = await test.make.project({ organization: home.organization.id });
    const { body } = await as.superuser.get(
      `projects/${project.id}/object_roles/?role_field=use_role`,
    );
    await as.superuser.post(`users/${String(id)}/roles/`, { id: body.results[0].id }).expect(204);
    await directory.remove(group, attribute, memberOf(name));
    expect(await rolesOf(basic(forget(name), `${name}-secret`))).toEqual(['Use']);
    await configure({});
  });

  it('are required by allow maps and denied by deny maps', async () => {
    const [denied, allowed, neither] = [await person(), await person(), await person()];
    const objectClass = 'groupOfNames';
    await directory.group('denied', { objectClass, member: [dnOf(denied)] });
    await directory.group('allowed', { objectClass, member: [dnOf(denied), dnOf(allowed)] });
    const maps = [
      await map({ map_type: 'deny', value: 'denied' }),
      await map({ map_type: 'allow', claim: 'group_dns', value: `cn=allowed,${GROUPS}` }),
    ];
    const url = `authenticators/${authenticator.id}/test/`;
    const trial = await test.as.superuser.post(url, { username: allowed }).expect(200);
    expect(trial.body).toMatchObject({
      allowed: true,
      maps: [maps[1]?.id],
      claims: { groups: ['allowed'], preferred_username: allowed, dn: dnOf(allowed) },
    });
    await test.as.superuser.post(url, { username: 'unknown' }).expect(400);
    await meOf(basic(allowed));
    for (const name of [denied, neither]) await basic(name).get('me/').expect(403);
    for (const { id } of maps) await test.as.superuser.delete(`authenticator_maps/${id}/`);
  });
});

describe('a directory that is unavailable', () => {
  it('returns 503 to its users, and does not affect local users', async () => {
    const local = await test.make.row('user', {
      username: 'local',
      password: 'A-local-password-1',
    });
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    await configure({ servers: `ldaps://127.0.0.1:${port}\nldap://127.0.0.1:1` });
    const begun = Date.now();
    const [away, here] = await Promise.all([
      basic('person').get('me/'),
      basic('local', 'A-local-password-1').get('me/'),
    ]);
    expect(away.status).toBe(503);
    expect(away.get('retry-after')).toBe('5');
    expect(here.body.results[0].id).toBe(local.id);
    expect(Date.now() - begun).toBeLessThan(9000);
    await basic('person').get('me/').expect(503);
    silent.close();
    await configure({});
  });

  it('is replaced by its next server', async () => {
    const name = await person();
    await configure({ servers: `ldap://127.0.0.1:1\n${directory.url}` });
    await meOf(basic(name));
    await configure({});
  });

  it.each([
    ['an address that is not permitted', { servers: 'ldaps://10.0.0.1' }, 'OUTBOUND_ALLOW'],
    ['a wrong bind password', { bind_password: 'wrong' }, 'InvalidCredentialsError'],
    ['a wrong base', { user_base: 'dc=nowhere' }, 'NoSuchObjectError'],
  ])('returns 503 with %s', async (_name, changes, reason) => {
    await configure(changes);
    await basic('person').get('me/').expect(503);
    const url = `authenticators/${authenticator.id}/test/`;
    const { body } = await test.as.superuser.post(url, { username: 'x' }).expect(400);
    expect(body.detail).toContain('The directory ldap failed');
    expect(body.detail).toContain(reason);
    await configure({});
  });
});

describe('a connection', () => {
  it.each([
    ['StartTLS', (): object => ({ start_tls: true })],
    ['LDAPS', (): object => ({ servers: `ldaps://localhost:${directory.tlsPort}` })],
  ])('is encrypted and verified with the configured authority only: %s', async (_name, changes) => {
    const name = await person();
    await configure({ ...changes(), ca: TEST_CERTIFICATE });
    await meOf(basic(name));
    await configure(changes());
    const url = `authenticators/${authenticator.id}/test/`;
    const { body } = await test.as.superuser.post(url, {}).expect(400);
    expect(body.detail).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    await basic(forget(name), `${name}-secret`).get('me/').expect(503);
    await configure({});
    await meOf(basic(await person()));
  });

  it('ignores a response that is sent early in clear text', async () => {
    const success = '300c02010178070a010004000400';
    const bound = '300c02010361070a010004000400';
    const hostile = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(Buffer.from(success + bound, 'hex')));
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const { port } = hostile.address() as AddressInfo;
    await configure({ servers: `ldap://127.0.0.1:${port}`, start_tls: true });
    const url = `authenticators/${authenticator.id}/test/`;
    const { body } = await test.as.superuser.post(url, {}).expect(400);
    expect(body.detail).toContain('refused StartTLS');
    hostile.close();
    await configure({});
  });
});

it('a user whose username differs from that of the directory can set up a second factor', async () => {
  const name = await person();
  const { id } = await meOf(basic(name));
  await test.as.superuser.patch(`users/${String(id)}/`, { username: `${name}.new` }).expect(200);
  const browser = new CookieBrowser();
  const at = (path: string): string => `${test.url}${path}`;
  const fields = { username: name, password: `${name}-secret` };
  await browser.visit(at('/api/login/'));
  expect((await browser.send(at('/api/login/'), { ...fields, next: '/' })).status).toBe(302);
  const begun = await browser.send(at('/second-factor/begin/'), fields);
  expect(await begun.text()).toContain('Secret: <code>');
  const page = await (await browser.visit(at('/second-factor/'))).text();
  expect(page).toContain('Username that you log in with');
  const other = await person();
  await basic(other).get('me/').expect(200);
  const wrong = { username: other, password: `${other}-secret` };
  expect((await browser.send(at('/second-factor/begin/'), wrong)).status).toBe(403);
});

it('a user whose local password is disabled is asked for the username in the directory', async () => {
  const { as, make } = test;
  const name = await person();
  const { id } = await meOf(basic(name));
  await as.superuser.patch(`users/${String(id)}/`, { password: 'a local password' }).expect(200);
  await make.user({ username: 'root', password: 'a long password', is_superuser: true });
  const disable = (DISABLE_LOCAL_AUTH: boolean) =>
    as.superuser.patch('settings/authentication/', { DISABLE_LOCAL_AUTH }).expect(200);
  const factors = test.app.get(SecondFactors, { strict: false });
  expect(await factors.needsDirectory(Number(id))).toBe(false);
  await disable(true);
  expect(await factors.needsDirectory(Number(id))).toBe(true);
  await disable(false);
});

it('the bind password is not in responses or activity', async () => {
  const { as, database } = test;
  const url = `authenticators/${authenticator.id}/`;
  const texts = [
    (await as.superuser.get(url).expect(200)).text,
    (await as.superuser.get(`${url}activity_stream/`).expect(200)).text,
    JSON.stringify(await database.rows(sql`SELECT * FROM authenticators`)),
  ];
  for (const text of texts) expect(text).not.toContain(ADMIN.bind_password);
  expect(texts[0]).toContain('$encrypted$');
});
