import supertest from 'supertest';

import { PasswordHasher } from '../../src/common/crypto/password-hash.js';
import { RedisConnection } from '../../src/common/queue/redis-connection.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { tokenDigest } from '../../src/common/crypto/tokens.js';
import { Settings } from '../../src/config/settings.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';

const PASSWORD = 'a long enough password';
let test: TestApp;
let ada: Row;

beforeAll(async () => {
  test = await boot({ settings: { LOGIN_RATE: '1000' } });
  ada = await test.make.user({ username: 'ada', password: PASSWORD });
});
afterAll(() => test.close());

const basic = (username: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});
const asAda = (): ApiClient => new ApiClient(test.url, basic('ada', PASSWORD));
const bearer = (token: string): ApiClient =>
  new ApiClient(test.url, { Authorization: `Bearer ${token}` });

describe('Basic', () => {
  it('accepts the right password and records the login', async () => {
    const { body } = await asAda().get('me/').expect(200);
    expect(body.results[0].username).toBe('ada');
    expect(body.results[0].last_login).not.toBeNull();
  });

  const BAD = 'Invalid username/password. To establish a login session, visit /api/login/.';
  it.each([
    ['a wrong password', basic('ada', 'wrong').Authorization, BAD],
    ['an unknown user', basic('nobody there', PASSWORD).Authorization, BAD],
    ['a user without password', basic('orgMember', '').Authorization, BAD],
    ['an empty user', basic('', '').Authorization, BAD],
    ['a NUL in the name', basic('a\u0000da', PASSWORD).Authorization, BAD],
    ['no colon', `Basic ${Buffer.from('ada').toString('base64')}`, BAD],
    ['no base64', 'Basic ???', BAD],
    ['nothing', 'Basic', 'Invalid basic header. No credentials provided.'],
    ['blanks', 'Basic a b', 'Invalid basic header. Credentials string should not contain spaces.'],
  ])('refuses %s', async (_case, header, detail) => {
    const client = new ApiClient(test.url, { Authorization: header! });
    const { body, headers } = await client.get('me/').expect(401);
    expect(body).toEqual({ detail });
    expect(headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('accepts a password with colons and non-ASCII characters', async () => {
    await test.make.user({ username: 'colon', password: 'a:b:ü:c:d' });
    await new ApiClient(test.url, basic('colon', 'a:b:ü:c:d')).get('me/').expect(200);
    const latin1 = Buffer.from('colon:a:b:ü:c:d', 'latin1').toString('base64');
    await new ApiClient(test.url, { Authorization: `Basic ${latin1}` }).get('me/').expect(200);
  });

  it('can be disabled', async () => {
    const strict = await boot({ settings: { AUTH_BASIC_ENABLED: '0' } });
    await strict.make.user({ username: 'ada', password: PASSWORD });
    await new ApiClient(strict.url, basic('ada', PASSWORD)).get('me/').expect(401);
    await strict.close();
  });

  it('checks a password also for unknown users, so that they take the same time', async () => {
    const hasher = test.app.get(PasswordHasher, { strict: false });
    const check = jest.spyOn(hasher, 'dummyVerify');
    for (const username of ['no such user', 'orgAdmin']) {
      await new ApiClient(test.url, basic(username, 'wrong')).get('me/').expect(401);
    }
    expect(check).toHaveBeenCalledTimes(2);
  });
});

describe('tokens', () => {
  it('are shown once and stored as a digest', async () => {
    const { body, headers } = await asAda()
      .post('tokens/', { description: 'mine', scope: 'write' })
      .expect(201);
    expect(body.token).toMatch(/^act_[A-Za-z0-9]{43}$/);
    expect(headers.location).toBe(`/api/v2/tokens/${body.id}/`);
    const rows = await test.database.rows<{ digest: string }>(
      sql`SELECT tok::text AS whole, digest FROM tokens tok WHERE id = ${body.id}`,
    );
    expect(JSON.stringify(rows)).not.toContain(body.token);
    expect(rows[0]?.digest).toBe(tokenDigest(body.token));
    for (const path of [
      body.url,
      'tokens/',
      `users/${ada.id}/tokens/`,
      `users/${ada.id}/personal_tokens/`,
    ]) {
      const shown = await bearer(body.token).get(path).expect(200);
      expect(JSON.stringify(shown.body)).not.toContain(body.token);
      expect(JSON.stringify(shown.body)).toContain('************');
    }
    const activity = await test.as.superuser.get('activity_stream/?object1=o_auth2_access_token');
    expect(JSON.stringify(activity.body)).not.toContain(body.token);
    expect(activity.body.count).toBeGreaterThan(0);
  });

  it('can be created below the user, also by user name', async () => {
    const sent = { description: 'AWX CLI', application: null, scope: 'write' };
    const { body } = await asAda().post('users/ada/personal_tokens/', sent).expect(201);
    await bearer(body.token).get('me/').expect(200);
    await asAda().post(`users/${ada.id}/tokens/`, {}).expect(201);
  });

  it('can be created for other users by superusers only', async () => {
    await test.as.superuser.post(`users/${ada.id}/tokens/`, {}).expect(201);
    await test.as.orgAdmin.post(`users/${ada.id}/tokens/`, {}).expect(403);
    await asAda().post(`users/${test.as.users.superuser.id}/tokens/`, {}).expect(403);
  });

  it('are invalid immediately after their deletion', async () => {
    const { body } = await asAda().post('tokens/', {}).expect(201);
    await bearer(body.token).delete(body.url).expect(204);
    await bearer(body.token).get('me/').expect(401);
  });

  it('are invalid after they expire', async () => {
    const token = await test.make.token(ada, { expiresInSeconds: -1 });
    const { body } = await bearer(token).get('me/').expect(401);
    expect(body.detail).toMatch(/^Authentication credentials were not provided/);
  });

  it('are deleted with their user', async () => {
    const gone = await test.make.user();
    const client = await test.as.asUser(gone);
    await client.get('me/').expect(200);
    await test.as.superuser.delete(`users/${gone.id}/`).expect(204);
    await client.get('me/').expect(401);
  });

  it('record when they were last used', async () => {
    const token = await test.make.token(ada);
    await bearer(token).get('me/').expect(200);
    const row = await test.database.row<{ last_used: string | null }>(
      sql`SELECT last_used FROM tokens WHERE digest = ${tokenDigest(token)}`,
    );
    expect(row?.last_used).not.toBeNull();
  });

  it('with the scope read permit reading only', async () => {
    const reader = await test.as.asUser(test.as.users.superuser, { scope: 'read' });
    await reader.get('teams/').expect(200);
    await reader.head('teams/').expect(200);
    await reader.options('teams/').expect(200);
    for (const method of ['post', 'put', 'patch', 'delete']) {
      const path = method === 'post' ? 'teams/' : `teams/${test.home.team.id}/`;
      await reader.request(method, path, {}).expect(403);
    }
  });

  it('cannot create tokens with a wider scope', async () => {
    const reader = await test.as.asUser(ada, { scope: 'read' });
    await reader.post('tokens/', { scope: 'write' }).expect(403);
  });

  it.each(['admin', ''])('refuse the scope "%s"', async (scope) => {
    const { body } = await asAda().post('tokens/', { scope }).expect(400);
    expect(body).toEqual({ scope: [`"${scope}" is not a valid choice.`] });
  });

  it.each(['Bearer', 'Bearer ', 'Bearer x', 'Bearer act_x y', 'Token abc', 'Digest x', '\t'])(
    'are not accepted in the invalid header %j',
    async (header) => {
      await new ApiClient(test.url, { Authorization: header }).get('me/').expect(401);
      await new ApiClient(test.url, { Authorization: header }).get('/api/v2/').expect(200);
    },
  );

  it('of other users are not readable', async () => {
    const { body } = await asAda().post('tokens/', {}).expect(201);
    await test.as.orgAdmin.get(body.url).expect(403);
    await test.as.orgAdmin.delete(body.url).expect(403);
    const list = await test.as.orgAdmin.get('tokens/').expect(200);
    expect(list.body.results.map(({ id }: Row) => id)).not.toContain(body.id);
  });
});

describe('sessions', () => {
  const login = async (
    username = 'ada',
    password = PASSWORD,
  ): Promise<{ status: number; cookie: string; csrf: string; location: string | undefined }> => {
    const form = await supertest(test.url).get('/api/').expect(200);
    const csrf = /csrftoken=(\w+)/.exec(String(form.headers['set-cookie']))?.[1] ?? '';
    const answer = await supertest(test.url)
      .post('/api/login/')
      .type('form')
      .set({ Cookie: `csrftoken=${csrf}`, 'X-CSRFToken': csrf, Referer: `${test.url}/api/` })
      .send({ username, password, next: '/api/' });
    const cookies = [answer.headers['set-cookie'] ?? []].flat() as string[];
    const session = cookies.map((one) => one.split(';')[0]).join('; ');
    return {
      status: answer.status,
      cookie: session,
      csrf: /csrftoken=(\w+)/.exec(session)?.[1] ?? '',
      location: answer.headers.location,
    };
  };

  it('start at /api/login/ and redirect to next', async () => {
    const { status, cookie, location } = await login();
    expect(status).toBe(302);
    expect(location).toBe('/api/');
    await new ApiClient(test.url, { Cookie: cookie }).get('me/').expect(200);
  });

  it('have a cookie that scripts cannot read', async () => {
    const form = await supertest(test.url).get('/api/');
    const csrf = /csrftoken=(\w+)/.exec(String(form.headers['set-cookie']))?.[1] ?? '';
    const answer = await supertest(test.url)
      .post('/api/login/')
      .type('form')
      .set({ Cookie: `csrftoken=${csrf}`, 'X-CSRFToken': csrf })
      .send({ username: 'ada', password: PASSWORD })
      .expect(302);
    expect(String(answer.headers['set-cookie'])).toMatch(
      /controller_session=.*HttpOnly.*SameSite=Lax/i,
    );
    expect(answer.headers['x-api-session-cookie-name']).toBe('controller_session');
  });

  it('have a cookie that shows scripts that they exist and when they end', async () => {
    const { cookie, csrf } = await login();
    expect(cookie).toContain('userLoggedIn=true');
    const client = new ApiClient(test.url, { Cookie: cookie, 'X-CSRFToken': csrf });
    const age = String(test.app.get(Settings).SESSION_COOKIE_AGE);
    expect((await client.get('me/').expect(200)).headers['session-timeout']).toBe(age);
    expect((await asAda().get('me/').expect(200)).headers).not.toHaveProperty('session-timeout');
    const ended = await client.post('/api/logout/', {}).expect(302);
    expect(String(ended.headers['set-cookie'])).toMatch(/userLoggedIn=;/);
  });

  it.each(['application/json, text/plain, */*', '*/*', 'text/*', 'text/html'])(
    'show their form for Accept: %s',
    async (accept) => {
      const form = await supertest(test.url).get('/api/login/').set('Accept', accept).expect(200);
      expect(form.text).toContain('name="password"');
    },
  );

  it.each(['a b', '[', 'here:99999'])('refuse to show their form for the host %j', async (Host) => {
    const answer = await supertest(test.url).get('/api/login/').set({ Host }).expect(400);
    expect(answer.body).toEqual({ detail: 'The Host header is not valid.' });
  });

  it('list no other login methods by default, without authentication', async () => {
    expect((await supertest(test.url).get('/api/v2/auth/').expect(200)).body).toEqual({});
  });

  it('do not start with a wrong password', async () => {
    expect((await login('ada', 'wrong')).status).toBe(401);
  });

  it.each([{ toString: 1 }, ['ada'], null, 7])(
    'do not start for the user name %j',
    async (username) => {
      const csrf = 'any-text-of-ours';
      await supertest(test.url)
        .post('/api/login/')
        .set({ Cookie: `csrftoken=${csrf}`, 'X-CSRFToken': csrf })
        .send({ username, password: username })
        .expect(401);
    },
  );

  it('require the CSRF token in the header or the form to write', async () => {
    const { cookie, csrf } = await login();
    const client = new ApiClient(test.url, { Cookie: cookie });
    const { body } = await client.post('tokens/', {}).expect(403);
    expect(body.detail).toMatch(/^CSRF Failed: /);
    await client.with({ 'X-CSRFToken': 'wrong' }).post('tokens/', {}).expect(403);
    await client.with({ 'X-CSRFToken': csrf }).post('tokens/', {}).expect(201);
    await client
      .with({ 'X-CSRFToken': csrf, Origin: 'https://elsewhere.example' })
      .post('tokens/', {})
      .expect(403);
    await client
      .with({ 'X-CSRFToken': csrf, Referer: `${test.url}/api/v2/` })
      .post('tokens/', {})
      .expect(201);
    await client.get('me/').expect(200);
  });

  it('end at /api/logout/', async () => {
    const { cookie, csrf } = await login();
    const client = new ApiClient(test.url, { Cookie: cookie, 'X-CSRFToken': csrf });
    await client.request('post', '/api/logout/').expect(302);
    await client.get('me/').expect(401);
  });

  it('end when the password changes, except for the current one', async () => {
    const grace = await test.make.user({ username: 'grace', password: PASSWORD });
    const here = await login('grace');
    const elsewhere = await login('grace');
    const client = new ApiClient(test.url, { Cookie: here.cookie, 'X-CSRFToken': here.csrf });
    await client.patch(`users/${grace.id}/`, { password: 'another password' }).expect(200);
    await client.get('me/').expect(200);
    await new ApiClient(test.url, { Cookie: elsewhere.cookie }).get('me/').expect(401);
    await new ApiClient(test.url, basic('grace', PASSWORD)).get('me/').expect(401);
    await new ApiClient(test.url, basic('grace', 'another password')).get('me/').expect(200);
  });

  it('expire when they are not used', async () => {
    const { cookie } = await login();
    await test.database.execute(sql`UPDATE sessions SET last_seen = now() - interval '1 hour'`);
    await new ApiClient(test.url, { Cookie: cookie }).get('me/').expect(401);
  });

  it.each([
    '//evil.example/',
    'https://evil.example/',
    '/\\evil.example',
    'javascript:x',
    '',
    '/a\nb',
  ])('never redirect to another site: next=%j', async (next) => {
    const form = await supertest(test.url).get('/api/');
    const csrf = /csrftoken=(\w+)/.exec(String(form.headers['set-cookie']))?.[1] ?? '';
    const answer = await supertest(test.url)
      .post('/api/login/')
      .type('form')
      .set({ Cookie: `csrftoken=${csrf}`, 'X-CSRFToken': csrf })
      .send({ username: 'ada', password: PASSWORD, next })
      .expect(302);
    expect(answer.headers.location).toBe('/api/v2/');
  });
});

describe('limits', () => {
  it('refuse further logins after too many failures, even with the right password', async () => {
    const strict = await boot({ settings: { LOGIN_RATE: '3' } });
    await strict.make.user({ username: 'ada', password: PASSWORD });
    await strict.app.get(RedisConnection, { strict: false }).client.ping();
    const wrong = new ApiClient(strict.url, basic('ada', 'wrong'));
    for (let attempt = 0; attempt < 3; attempt++) await wrong.get('me/').expect(401);
    // A new window of the rate limit may begin during the loop.
    const { body, headers } = await eventually(() => wrong.get('me/').expect(429), 20_000);
    expect(body.detail).toMatch(/^Request was throttled/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await new ApiClient(strict.url, basic('ada', PASSWORD)).get('me/').expect(429);
    await strict.as.superuser.get('me/').expect(200);
    await strict.close();
  });

  it('refuse tokens above the limit for each user, with the headers of the contract', async () => {
    const strict = await boot({ settings: { TOKEN_RATE: '2' } });
    await strict.app.get(RedisConnection, { strict: false }).client.ping();
    const first = await strict.as.orgMember.post('tokens/', {}).expect(201);
    expect(first.headers['x-ratelimit-limit']).toBe('2');
    expect(first.headers['x-ratelimit-remaining']).toBe('1');
    expect(Number(first.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1000 - 1);
    await strict.as.orgMember.post('tokens/', {}).expect(201);
    await strict.as.orgMember.post('tokens/', {}).expect(429);
    await strict.as.orgAdmin.post('tokens/', {}).expect(201);
    await strict.close();
  });
});
