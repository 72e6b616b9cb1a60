/**
 * Who came with a token the last time is a guess, by which its next request is asked in one statement
 * (docs/decisions/0112-expected-callers.md). The guess decides nothing: whatever was taken away or
 * given holds for the very next request.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { tokenDigest } from '../../src/common/crypto/tokens.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let team: Row;
let user: Row;
let token: string;
let client: ApiClient;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

beforeEach(async () => {
  const { make, home, database } = test;
  team = await make.team({ organization: home.organization.id });
  user = await make.user();
  token = await make.token(user);
  // The first request of each minute notes the use of its token.
  await database.execute(sql`UPDATE tokens SET last_used = now() + interval '1 hour'`);
  client = new ApiClient(test.url, { Authorization: `Bearer ${token}` });
});

const get = (): ReturnType<ApiClient['get']> => client.get(`teams/${team.id}/`);
const flag = (isSuperuser: boolean): Promise<number> =>
  test.database.execute(sql`UPDATE users SET is_superuser = ${isSuperuser} WHERE id = ${user.id}`);

it('is used: what is asked about goes with the token', async () => {
  await flag(true);
  expect(await countQueries(test.database, get)).toBe(3);
  expect(await countQueries(test.database, get)).toBe(2);
});

it('knows nobody whose token is gone or has expired', async () => {
  await flag(true);
  await get().expect(200);
  const digest = tokenDigest(token);
  const past = sql`now() - interval '1 second'`;
  await test.database.execute(sql`UPDATE tokens SET expires = ${past} WHERE digest = ${digest}`);
  await get().expect(401);
  await test.database.execute(sql`UPDATE tokens SET expires = NULL WHERE digest = ${digest}`);
  await get().expect(200);
  await test.database.execute(sql`DELETE FROM tokens WHERE digest = ${digest}`);
  await get().expect(401);
});

it('is put right where the caller has become another', async () => {
  await get().expect(403);
  await flag(true);
  await get().expect(200);
  await client.patch(`teams/${team.id}/`, { description: 'mine' }).expect(200);
  await flag(false);
  await client.patch(`teams/${team.id}/`, { description: 'still mine' }).expect(403);
  await get().expect(403);
  await client.get(`teams/${team.id}/users/`).expect(403);
});

it('asks what the caller may do as it is now', async () => {
  await get().expect(403);
  const { body } = await test.as.superuser.get(`teams/${team.id}/`).expect(200);
  const role = { id: body.summary_fields.object_roles.read_role.id };
  await test.as.superuser.post(`users/${user.id}/roles/`, role).expect(204);
  await get().expect(200);
  await client.patch(`teams/${team.id}/`, { description: 'mine' }).expect(403);
  const gone = { ...role, disassociate: true };
  await test.as.superuser.post(`users/${user.id}/roles/`, gone).expect(204);
  await get().expect(403);
});

it('tells of objects that there are not what is told otherwise', async () => {
  await get().expect(403);
  await client.get('teams/987654321/').expect(404);
  await client.get('teams/99999999999999999999/').expect(404);
  await client.get('teams/no such team/').expect(404);
  await test.as.superuser.delete(`teams/${team.id}/`).expect(204);
  await get().expect(404);
});

it('refuses a token that may only read what it refused before', async () => {
  await flag(true);
  await get().expect(200);
  await test.database.execute(sql`
    UPDATE tokens SET scope = 'read' WHERE digest = ${tokenDigest(token)}`);
  await client.patch(`teams/${team.id}/`, { description: 'mine' }).expect(403);
  await get().expect(200);
});
