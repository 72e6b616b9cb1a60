/**
 * Users that a directory no longer has (docs/single-sign-on.md#synchronization). It starts OpenLDAP's
 * slapd: what a search for many accounts finds is the work of a real server.
 */
import type { INestApplicationContext } from '@nestjs/common';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { Unavailable } from '../../src/common/errors/errors.js';
import { DirectorySync } from '../../src/identity/directory-sync.service.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { ADMIN, Directory, GROUPS, PEOPLE } from '../support/fakes/directory.js';

let test: TestApp;
let worker: INestApplicationContext;
let directory: Directory;
let authenticator: Row;
beforeAll(async () => {
  test = await boot();
  directory = await Directory.start();
  worker = await bootWorker(test);
  authenticator = await test.make.row('authenticator', {
    name: 'ldap',
    kind: 'ldap',
    configuration: configuration(1),
  });
});
afterAll(async () => {
  await worker.close();
  await directory.close();
  await test.close();
});

const configuration = (minutes: number): object => ({
  servers: directory.url,
  user_base: PEOPLE,
  ...ADMIN,
  sync_minutes: minutes,
});

const basic = (name: string): ApiClient =>
  test.as.anonymous.with({
    authorization: `Basic ${Buffer.from(`${name}:${name}-secret`).toString('base64')}`,
  });

/** Logs in for the first time. @returns the id of the user, and a client with a token */
async function join(name: string, attributes = {}): Promise<{ id: number; client: ApiClient }> {
  await directory.person(name, attributes);
  const { body } = await basic(name).get('me/').expect(200);
  const { id } = body.results[0] as Row;
  const token = await basic(name).post('tokens/', { scope: 'write' }).expect(201);
  const authorization = `Bearer ${token.body.token}`;
  return { id, client: test.as.anonymous.with({ authorization }) };
}

/** Moves an account to where logins do not find it. */
const leave = (name: string): Promise<void> =>
  directory.move(`uid=${name},${PEOPLE}`, `uid=${name},${GROUPS}`);

const isDisabled = async (id: number): Promise<boolean> =>
  (await test.as.superuser.get(`users/${id}/`).expect(200)).body.is_disabled;

async function sync(): Promise<void> {
  await test.database.execute(sql`UPDATE authenticators SET synced_at = NULL`);
  await worker.get(DirectorySync, { strict: false }).syncDue();
}

it('the sync disables users who were removed, and enables users who are back', async () => {
  const { id, client } = await join('ada');
  const other = await join('bob');
  await sync();
  await client.get('me/').expect(200);

  await leave('ada');
  await sync();
  expect([await isDisabled(id), await isDisabled(other.id)]).toEqual([true, false]);
  await client.get('me/').expect(401);
  await other.client.get('me/').expect(200);
  const log = await test.as.superuser.get(`activity_stream/?object1=user&order_by=-id&page_size=1`);
  expect(log.body.results[0]).toMatchObject({
    changes: { is_disabled: [false, true] },
    summary_fields: { user: [{ id }] },
  });

  await directory.move(`uid=ada,${GROUPS}`, `uid=ada,${PEOPLE}`);
  await sync();
  expect(await isDisabled(id)).toBe(false);
  await client.get('me/').expect(200);
});

it('a user whose account is back is enabled by a login, without another sync', async () => {
  const { id, client } = await join('kim');
  await join('liz');
  await leave('kim');
  await sync();
  await basic('kim').get('me/').expect(401);
  expect(await isDisabled(id)).toBe(true);

  await directory.move(`uid=kim,${GROUPS}`, `uid=kim,${PEOPLE}`);
  await basic('kim').get('me/').expect(200);
  await client.get('me/').expect(200);
  const log = await test.as.superuser.get(`activity_stream/?object1=user&order_by=-id&page_size=1`);
  expect(log.body.results[0]).toMatchObject({
    changes: { is_disabled: [true, false] },
    summary_fields: { user: [{ id }] },
  });
});

it('the sync changes nothing if the directory returns no users or the setting is off', async () => {
  const { id } = await join('eve');
  await leave('eve');
  const wrong = { ...configuration(1), user_base: 'ou=none,dc=example,dc=com' };
  const path = `authenticators/${authenticator.id}/`;
  await test.as.superuser.patch(path, { configuration: wrong }).expect(200);
  await expect(sync()).rejects.toThrow(Unavailable);
  expect(await isDisabled(id)).toBe(false);
  await test.as.superuser.patch(path, { configuration: configuration(0) }).expect(200);
  await sync();
  expect(await isDisabled(id)).toBe(false);
  await test.as.superuser.patch(path, { configuration: configuration(1) }).expect(200);
  await sync();
  expect(await isDisabled(id)).toBe(true);
  // A user with a local password no longer depends on the directory.
  await test.as.superuser.patch(`users/${id}/`, { password: 'a local password' }).expect(200);
  await sync();
  expect(await isDisabled(id)).toBe(false);
});

it('the sync never disables the last superuser', async () => {
  const { id } = await join('root');
  await test.database.execute(sql`UPDATE users SET is_superuser = (id = ${id})`);
  await leave('root');
  await sync();
  const flags = await test.database.row(sql`SELECT is_disabled FROM users WHERE id = ${id}`);
  expect(flags).toEqual({ is_disabled: false });
  const { superuser } = test.as.users;
  await test.database.execute(sql`UPDATE users SET is_superuser = (id = ${superuser.id})`);
  await directory.move(`uid=root,${GROUPS}`, `uid=root,${PEOPLE}`);
});

it('the sync changes nothing while the directory is unavailable', async () => {
  await join('eva');
  const path = `authenticators/${authenticator.id}/`;
  const away = { ...configuration(1), servers: 'ldap://127.0.0.1:1' };
  await test.as.superuser.patch(path, { configuration: away }).expect(200);
  await test.database.execute(sql`UPDATE users SET is_disabled = false`);
  const before = await test.database.rows(sql`SELECT id, is_disabled FROM users ORDER BY id`);
  await expect(sync()).rejects.toThrow(Unavailable);
  expect(await test.database.rows(sql`SELECT id, is_disabled FROM users ORDER BY id`)).toEqual(
    before,
  );
  await test.as.superuser.patch(path, { configuration: configuration(1) }).expect(200);
});

it('the sync disables users whose accounts the filter no longer finds, also those known by their DN', async () => {
  const path = `authenticators/${authenticator.id}/`;
  const filter = '(&(uid={username})(employeeType=active))';
  // No account has this attribute, so the DN identifies the user.
  const byDn = { ...configuration(1), id_attribute: 'employeeNumber', user_filter: filter };
  await test.as.superuser.patch(path, { configuration: byDn }).expect(200);
  const { id, client } = await join('dan', { employeeType: 'active' });
  const other = await join('lea', { employeeType: 'active' });
  await sync();
  await client.get('me/').expect(200);

  await directory.remove(`uid=dan,${PEOPLE}`, 'employeeType', 'active');
  await sync();
  expect([await isDisabled(id), await isDisabled(other.id)]).toEqual([true, false]);
  await client.get('me/').expect(401);
  await test.as.superuser.patch(path, { configuration: configuration(1) }).expect(200);
});
