/** The setting `DISABLE_LOCAL_AUTH` (docs/single-sign-on.md#without-local-passwords). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

const PASSWORD = 'a long enough password';
const SETTINGS = 'settings/authentication/';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
  await test.make.user({ username: 'ada', password: PASSWORD });
});
afterAll(() => test.close());

const createAuthenticator = (name: string): Promise<Row> => {
  const configuration = { issuer: 'https://login.example.com', client_id: 'x' };
  return test.make.row('authenticator', { name, configuration });
};

const statusOf = async (username: string): Promise<number> => {
  const login = Buffer.from(`${username}:${PASSWORD}`).toString('base64');
  const client = test.as.anonymous.with({ authorization: `Basic ${login}` });
  return (await client.get('me/')).status;
};

const change = (DISABLE_LOCAL_AUTH: boolean) =>
  test.as.superuser.patch(SETTINGS, { DISABLE_LOCAL_AUTH });

it('DISABLE_LOCAL_AUTH is refused without another login, and superusers keep access', async () => {
  const { as, database, make } = test;
  const refused = async (reason: string): Promise<void> => {
    const { body } = await change(true).expect(400);
    expect(body.DISABLE_LOCAL_AUTH).toEqual([expect.stringContaining(reason)]);
  };
  await refused('There is no enabled authenticator');
  const first = await createAuthenticator('first');
  await as.superuser.patch(`authenticators/${first.id}/`, { enabled: false }).expect(200);
  await refused('There is no enabled authenticator');
  await as.superuser.patch(`authenticators/${first.id}/`, { enabled: true }).expect(200);
  await database.execute(sql`UPDATE users SET password_hash = '' WHERE is_superuser`);
  await refused('No superuser has a local password');
  await make.user({ username: 'root', password: PASSWORD, is_superuser: true });
  await change(true).expect(200);
  expect([await statusOf('ada'), await statusOf('root')]).toEqual([401, 200]);

  const url = `authenticators/${first.id}/`;
  await as.superuser.patch(url, { enabled: false }).expect(400);
  await as.superuser.delete(url).expect(400);
  const second = await createAuthenticator('second');
  await as.superuser.delete(url).expect(204);
  await as.superuser.delete(`authenticators/${second.id}/`).expect(400);

  await change(false).expect(200);
  expect(await statusOf('ada')).toBe(200);
  await as.superuser.delete(`authenticators/${second.id}/`).expect(204);
});
