/** A permission that is granted to the user of a token, or revoked, applies to the next request. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { tokenDigest } from '../../src/common/crypto/tokens.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';

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

it('a deleted or expired token is refused at the write', async () => {
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

it('the flags of the user are checked again at the write', async () => {
  await get().expect(403);
  await flag(true);
  await get().expect(200);
  await client.patch(`teams/${team.id}/`, { description: 'mine' }).expect(200);
  await flag(false);
  await client.patch(`teams/${team.id}/`, { description: 'still mine' }).expect(403);
  await get().expect(403);
  await client.get(`teams/${team.id}/users/`).expect(403);
});

it('the roles of the user are checked again at the write', async () => {
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

it('missing objects return 404', async () => {
  await get().expect(403);
  await client.get('teams/987654321/').expect(404);
  await client.get('teams/99999999999999999999/').expect(404);
  await client.get('teams/no such team/').expect(404);
  await test.as.superuser.delete(`teams/${team.id}/`).expect(204);
  await get().expect(404);
});

it('writes of a token that became read-only are refused', async () => {
  await flag(true);
  await get().expect(200);
  await test.database.execute(sql`
    UPDATE tokens SET scope = 'read' WHERE digest = ${tokenDigest(token)}`);
  await client.patch(`teams/${team.id}/`, { description: 'mine' }).expect(403);
  await get().expect(200);
});
