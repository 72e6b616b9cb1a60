/** A session is bound to its host, its CSRF token and its age. */
import supertest from 'supertest';

import { AuthenticationService } from '../../src/auth/authentication.service.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

const PASSWORD = 'a long enough password';
const HTTPS = { 'X-Forwarded-Proto': 'https' };
const HOST_COOKIE = `__Host-${SESSION_COOKIE}`;

let test: TestApp;
beforeAll(async () => {
  const ages = { SESSION_MAX_AGE: '3600', EXTERNAL_SESSION_AGE: '600' };
  test = await boot({ settings: { TRUSTED_PROXIES: 'loopback', ...ages } });
  await test.make.user({ username: 'ada', password: PASSWORD });
});
afterAll(() => test.close());

type Headers = Record<string, string>;
interface Session {
  /** Cookies by name, as a browser stores them. */
  cookies: Headers;
  headers: Headers;
  setCookies: string[];
}

const sent = (cookies: Headers): string =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');

function kept(cookies: Headers, answer: supertest.Response): string[] {
  const set = [answer.headers['set-cookie'] ?? []].flat() as string[];
  for (const line of set) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies[name] = value;
  }
  return set;
}

async function logIn(headers: Headers = {}): Promise<Session> {
  const cookies: Headers = {};
  kept(cookies, await supertest(test.url).get('/api/').set(headers).expect(200));
  const answer = await supertest(test.url)
    .post('/api/login/')
    .type('form')
    .set({ ...headers, Cookie: sent(cookies), 'X-CSRFToken': String(cookies.csrftoken) })
    .send({ username: 'ada', password: PASSWORD })
    .expect(302);
  return { cookies, setCookies: kept(cookies, answer), headers: answer.headers as Headers };
}

const write = (cookies: Headers, headers: Headers = {}): supertest.Test =>
  supertest(test.url)
    .post('/api/v2/tokens/')
    .set({ Cookie: sent(cookies), 'X-CSRFToken': String(cookies.csrftoken), ...headers })
    .send({});

describe('the CSRF token', () => {
  it('changes at login, and belongs to the session', async () => {
    const [one, other] = [await logIn(), await logIn()];
    await write(one.cookies).expect(201);
    expect(one.cookies.csrftoken).not.toBe(other.cookies.csrftoken);
    const planted = { ...one.cookies, csrftoken: String(other.cookies.csrftoken) };
    const { body } = await write(planted).expect(403);
    expect(body).toEqual({ detail: 'CSRF Failed: CSRF token missing or incorrect.' });
    await write({ ...one.cookies, csrftoken: 'planted' }).expect(403);
  });

  it('is replaced if the cookie has another one', async () => {
    const { cookies } = await logIn();
    const planted = { ...cookies, csrftoken: 'planted' };
    kept(planted, await supertest(test.url).get('/api/').set('Cookie', sent(planted)));
    expect(planted.csrftoken).toBe(cookies.csrftoken);
  });

  it('is refused from a page without an origin', async () => {
    const { cookies } = await logIn();
    const { body } = await write(cookies, { Origin: 'null' }).expect(403);
    expect(body).toEqual({ detail: 'CSRF Failed: Origin checking failed.' });
    await write(cookies, { Origin: 'https://elsewhere.example' }).expect(403);
    await write(cookies, { Origin: test.url }).expect(201);
  });
});

describe('over HTTPS', () => {
  it('the session cookie is sent to this host only', async () => {
    const { cookies, setCookies, headers } = await logIn(HTTPS);
    const line = setCookies.find((one) => one.startsWith(`${HOST_COOKIE}=`));
    expect(line).toMatch(/; Path=\//);
    expect(line).toMatch(/; Secure/);
    expect(line).toMatch(/; HttpOnly/);
    expect(line).not.toMatch(/Domain/i);
    expect(headers['x-api-session-cookie-name']).toBe(HOST_COOKIE);
    await write(cookies, HTTPS).expect(201);
  });

  it('a cookie from a sibling domain is ignored', async () => {
    const { cookies } = await logIn(HTTPS);
    const { [HOST_COOKIE]: value, csrftoken } = cookies;
    const planted = { [SESSION_COOKIE]: String(value), csrftoken: String(csrftoken) };
    await supertest(test.url)
      .get('/api/v2/me/')
      .set({ ...HTTPS, Cookie: sent(planted) })
      .expect(401);
  });

  it('the end of a session removes its cookie', async () => {
    const { cookies } = await logIn(HTTPS);
    const answer = await supertest(test.url)
      .post('/api/logout/')
      .set({ ...HTTPS, Cookie: sent(cookies), 'X-CSRFToken': String(cookies.csrftoken) })
      .expect(302);
    expect(String(answer.headers['set-cookie'])).toMatch(
      new RegExp(`${HOST_COOKIE}=;.*Secure`, 'i'),
    );
  });

  it('browsers are instructed to use only HTTPS', async () => {
    const secure = await supertest(test.url).get('/api/').set(HTTPS);
    expect(secure.headers['strict-transport-security']).toBe('max-age=31536000');
    const plain = await supertest(test.url).get('/api/');
    expect(plain.headers).not.toHaveProperty('strict-transport-security');
  });
});

it('a session ends after a maximum time, even if it is used', async () => {
  const { cookies } = await logIn();
  await test.database.execute(sql`
    UPDATE sessions SET created = now() - interval '59 minutes', last_seen = now()`);
  await write(cookies).expect(201);
  await test.database.execute(sql`
    UPDATE sessions SET created = now() - interval '61 minutes', last_seen = now()`);
  await write(cookies).expect(401);
});

it('a session of an external user ends earlier', async () => {
  const { cookies } = await logIn();
  const { database, make } = test;
  const slug = 'idp';
  const configuration = { issuer: 'https://login.example.com', client_id: 'x' };
  await make.row('authenticator', { name: slug, configuration });
  await database.execute(sql`
    UPDATE sessions SET created = now() - interval '11 minutes', last_seen = now()`);
  await write(cookies).expect(201);
  await database.execute(sql`UPDATE users SET external_account = ${slug} WHERE username = 'ada'`);
  await write(cookies).expect(401);
  await database.execute(sql`
    UPDATE sessions SET created = now() - interval '9 minutes', last_seen = now()`);
  await write(cookies).expect(201);
  await database.execute(sql`UPDATE users SET external_account = NULL WHERE username = 'ada'`);
});

it('no session starts for a password that is replaced during the login', async () => {
  const authentication = test.app.get(AuthenticationService, { strict: false });
  jest.spyOn(authentication, 'logIn').mockImplementationOnce(async ({ id, username }) => {
    await test.as.superuser.patch(`users/${id}/`, { password: PASSWORD }).expect(200);
    return { id, username, isSuperuser: false, isSystemAuditor: false };
  });
  const { cookies } = await logIn();
  await write(cookies).expect(401);
});

it('the oldest sessions of a user with more than SESSIONS_PER_USER end', async () => {
  const url = 'settings/authentication/';
  const old = [await logIn(), await logIn()];
  await test.as.superuser.patch(url, { SESSIONS_PER_USER: 2 }).expect(200);
  const sessions = [...old, await logIn(), await logIn()];
  const statuses = await Promise.all(
    sessions.map(async ({ cookies }) => (await write(cookies)).status),
  );
  expect(statuses).toEqual([401, 401, 201, 201]);
  for (const end of [sql`last_seen = now() - interval '1 day'`, sql`generation = generation - 1`]) {
    await test.database.execute(sql`
      UPDATE sessions SET ${end} WHERE digest IN (
        SELECT digest FROM sessions ORDER BY created DESC LIMIT 1)`);
    await logIn();
    expect((await write(sessions[2]?.cookies ?? {})).status).toBe(201);
  }
  await test.as.superuser.patch(url, { SESSIONS_PER_USER: -1 }).expect(200);
});
