/** Logins with an external identity provider (docs/single-sign-on.md#login). */
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { Logger } from '@nestjs/common';

import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { sql } from '../../src/database/sql.js';
import { eventually } from '../support/eventually.js';
import { CLIENT, CookieBrowser } from '../support/fakes/identity-provider.js';
import { expectRefused, SingleSignOn } from '../support/single-sign-on.js';

const sso = new SingleSignOn();
const { account, callbackOf, claim, configuration, logIn, createAuthenticator, start } = sso;
const { rolesOf, userOf } = sso;

describe('a login', () => {
  it('creates the user and a session, and returns to the page', async () => {
    const username = account({ given_name: 'Ada', family_name: 'L', email: 'ada@example.com' });
    const browser = new CookieBrowser();
    const { url, response } = await browser.follow(start('/api/v2/me/?format=json'));
    expect(response.status).toBe(200);
    expect(url).toBe(`${sso.test.url}/api/v2/me/?format=json`);
    const me = await browser.visit(`${sso.test.url}/api/v2/me/`, { accept: 'application/json' });
    const [user] = ((await me.json()) as { results: Record<string, unknown>[] }).results;
    expect(user).toMatchObject({
      username,
      first_name: 'Ada',
      last_name: 'L',
      email: 'ada@example.com',
      is_superuser: false,
      external_account: 'idp',
      auth: [],
    });
    expect(user?.last_login).not.toBeNull();
    expect(await rolesOf(username)).toEqual([]);
    const names = [...browser.jarOf(sso.test.url).keys()];
    expect(names).toEqual(
      expect.arrayContaining(['controller_session', 'userLoggedIn', 'csrftoken']),
    );
    expect(names.filter((name) => name.includes('sso'))).toEqual([]);
  });

  it('finds the same user again, even after a change of the name at the provider', async () => {
    const username = account();
    await logIn();
    const { id } = await userOf(username);
    claim({ preferred_username: 'renamed' });
    expect((await logIn()).status).toBe(302);
    expect(await userOf('renamed')).toBeUndefined();
    const listed = await sso.test.as.superuser.get(
      `authenticators/${sso.authenticator.id}/users/?id=${id}`,
    );
    expect(listed.body.count).toBe(1);
  });

  it('creates one user for two simultaneous logins', async () => {
    const username = account();
    const browsers = [new CookieBrowser(), new CookieBrowser()];
    const urls = await Promise.all(browsers.map(callbackOf));
    const responses = await Promise.all(browsers.map((one, at) => one.visit(urls[at] ?? '')));
    expect(responses.map(({ status }) => status)).toEqual([302, 302]);
    const { body } = await sso.test.as.superuser.get(`users/?username=${username}`).expect(200);
    expect(body.count).toBe(1);
  });

  it('works in two tabs at the same time', async () => {
    account();
    const browser = new CookieBrowser();
    const tabs = [await browser.visit(start('/first/')), await browser.visit(start('/second/'))];
    for (const [at, next] of ['/first/', '/second/'].entries()) {
      const begun = tabs[at]?.headers.get('location') ?? '';
      const { url } = await browser.follow(begun, '/sso/callback/');
      expect((await browser.visit(url)).headers.get('location')).toBe(next);
    }
  });

  it('starts a new session in a browser that already has one', async () => {
    account();
    const browser = new CookieBrowser();
    browser.jarOf(sso.test.url).set('controller_session', 'fixed');
    await logIn(browser);
    expect(browser.jarOf(sso.test.url).get('controller_session')).toMatch(/^acs_/);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/', 'javascript:1'])(
    'never redirects to %s',
    async (next) => {
      account();
      const browser = new CookieBrowser();
      const { url } = await browser.follow(start(next), '/sso/callback/');
      const { headers } = await browser.visit(url);
      expect(headers.get('location')).toBe('/api/v2/');
    },
  );

  it('still works after the provider has changed its keys', async () => {
    account();
    expect((await logIn()).status).toBe(302);
    sso.provider.rotateKeys();
    expect((await logIn()).status).toBe(302);
  });

  it('is offered to clients and on the login page', async () => {
    await createAuthenticator('second', { enabled: false });
    const { body } = await sso.test.as.anonymous.get('auth/').expect(200);
    expect(body.idp).toEqual({ name: 'idp', login_url: '/sso/login/idp/' });
    expect(body).not.toHaveProperty('second');
    const page = await (
      await new CookieBrowser().visit(`${sso.test.url}/api/login/?next=/x/`)
    ).text();
    expect(page).toContain('href="/sso/login/idp/?next=%2Fx%2F"');
    expect(page).not.toContain('/sso/login/second/');
  });

  it('is offered after a form of an ended session, and after an expired login form', async () => {
    await sso.test.as.superuser.patch('settings/ui/', { CUSTOM_LOGIN_INFO: 'Staff only' });
    const browser = new CookieBrowser();
    await browser.visit(`${sso.test.url}/api/login/`);
    const response = await browser.send(`${sso.test.url}/api/v2/teams/`, { name: 'Ops' });
    expect(response.status).toBe(401);
    const page = await response.text();
    expect(page).toContain('href="/sso/login/idp/?next=%2Fapi%2Fv2%2Fteams%2F"');
    expect(page).toContain('Staff only');
    browser.jarOf(sso.test.url).clear();
    const expired = await browser.send(`${sso.test.url}/api/login/`, { next: '/x/' });
    expect(expired.status).toBe(403);
    const form = await expired.text();
    expect(form).toContain('The form has expired. Log in again.');
    expect(form).toContain('href="/sso/login/idp/?next=%2Fx%2F"');
  });
});

const NOT_BEGUN = 'The login did not begin in this browser';

describe('a login is refused', () => {
  it('if its response is used again', async () => {
    account();
    const browser = new CookieBrowser();
    const url = await callbackOf(browser);
    const cookies = new Map(browser.jarOf(sso.test.url));
    await browser.visit(url);
    await expectRefused(await browser.visit(url), NOT_BEGUN);
    for (const [name, value] of cookies) browser.jarOf(sso.test.url).set(name, value);
    await expectRefused(await browser.visit(url), 'invalid_grant');
  });

  it('if it started in another browser', async () => {
    account();
    const url = await callbackOf(new CookieBrowser());
    const response = await new CookieBrowser().visit(url);
    const page = await response.clone().text();
    await expectRefused(response, NOT_BEGUN);
    expect(page).not.toContain(new URL(url).searchParams.get('code'));
    expect(page).toContain('href="/api/login/?next=%2F"');
  });

  it('if another login of the browser has the state', async () => {
    account();
    const browser = new CookieBrowser();
    const [first, second] = [await callbackOf(browser), await callbackOf(browser)];
    const url = new URL(first);
    url.searchParams.set('state', new URL(second).searchParams.get('state') ?? '');
    await expectRefused(await browser.visit(url.href), 'invalid_grant');
  });

  it('if the nonce is not that of the browser', async () => {
    account();
    const browser = new CookieBrowser();
    const begun = await browser.visit(start());
    const url = new URL(begun.headers.get('location') ?? '');
    url.searchParams.set('nonce', 'of another login');
    const { url: callback } = await browser.follow(url.href, '/sso/callback/');
    await expectRefused(await browser.visit(callback), 'unexpected JWT claim value');
  });

  it('if the ID token expired more than half a minute ago', async () => {
    account();
    sso.provider.idTokenSeconds = -20;
    const accepted = await logIn();
    sso.provider.idTokenSeconds = -40;
    const late = await logIn();
    sso.provider.idTokenSeconds = 600;
    expect(accepted.status).toBe(302);
    await expectRefused(late, 'JWT timestamp claim value failed validation');
  });

  it('if the response has another issuer', async () => {
    account();
    const browser = new CookieBrowser();
    const url = new URL(await callbackOf(browser));
    url.searchParams.set('iss', 'https://other.example');
    await expectRefused(await browser.visit(url.href), 'The identity provider idp reported');
  });

  it('if the cookie is of another authenticator', async () => {
    account();
    await createAuthenticator('neighbor');
    const browser = new CookieBrowser();
    const url = await callbackOf(browser);
    await expectRefused(await browser.visit(url.replace('/idp/', '/neighbor/')), NOT_BEGUN);
  });

  it('if the account is disabled', async () => {
    const username = account();
    await logIn();
    await sso.test.database.execute(
      sql`UPDATE users SET is_disabled = true WHERE username = ${username}`,
    );
    await expectRefused(await logIn(), 'The account is disabled.');
  });

  it('if it took more than ten minutes', async () => {
    account();
    const browser = new CookieBrowser();
    const url = await callbackOf(browser);
    const box = sso.test.app.get(SecretBox, { strict: false });
    const context = JSON.stringify(['login', 'idp']);
    for (const [name, value] of browser.jarOf(sso.test.url)) {
      const login = JSON.parse(box.open(value, context)) as { until: number };
      expect(login.until - Date.now()).toBeLessThanOrEqual(600_000);
      const late = JSON.stringify({ ...login, until: Date.now() - 1 });
      browser.jarOf(sso.test.url).set(name, box.seal(late, context));
    }
    await expectRefused(await browser.visit(url), NOT_BEGUN);
  });

  it('if the user declined at the provider', async () => {
    account();
    const browser = new CookieBrowser();
    const url = new URL(await callbackOf(browser));
    url.searchParams.delete('code');
    url.searchParams.set('error', 'access_denied');
    await expectRefused(await browser.visit(url.href), 'access_denied');
  });

  it('if a local user has the name', async () => {
    const { username, id } = await sso.test.make.user({ email: 'same@example.com' });
    account({ preferred_username: username, email: 'same@example.com' });
    await expectRefused(await logIn(), 'belongs to another account');
    const { body } = await sso.test.as.superuser.get(`users/${String(id)}/`).expect(200);
    expect(body.external_account).toBeNull();
  });

  it.each([
    ['no username', undefined, 'preferred_username with the username is missing'],
    ['a username with a space', 'two words', 'two words cannot be a username'],
    ['a username that is not a text', 7, 'preferred_username with the username is missing'],
  ])('if there is %s', async (_name, preferred_username, reason) => {
    account({ preferred_username });
    await expectRefused(await logIn(), reason);
  });

  it('if the creation of new users is disabled', async () => {
    const username = account();
    const url = `authenticators/${sso.authenticator.id}/`;
    await sso.test.as.superuser.patch(url, { create_users: false }).expect(200);
    await expectRefused(await logIn(), 'is not linked to a user');
    await sso.test.as.superuser.patch(url, { create_users: true }).expect(200);
    expect(await userOf(username)).toBeUndefined();
  });

  it('with 404 if the authenticator is disabled or unknown', async () => {
    await createAuthenticator('off', { enabled: false });
    for (const slug of ['off', 'unknown']) {
      expect((await new CookieBrowser().visit(`${sso.test.url}/sso/login/${slug}/`)).status).toBe(
        404,
      );
    }
  });

  it.each([
    ['is down', 'http://127.0.0.1:1', '127.0.0.1:1'],
    ['is at an address that is not permitted', 'https://10.0.0.1', 'OUTBOUND_ALLOW'],
    ['is not a provider', '', 'unexpected HTTP response status code'],
  ])('with 503 if the provider %s', async (name, issuer, reason) => {
    const { slug } = await createAuthenticator(name, {
      configuration: configuration({ issuer: issuer || `${sso.test.url}/nothing` }),
    });
    const response = await new CookieBrowser().visit(`${sso.test.url}/sso/login/${String(slug)}/`);
    const id = response.headers.get('x-api-request-id') ?? '';
    const text = await response.clone().text();
    await expectRefused(response, reason, 503);
    expect(text).toContain(`<code>${id}</code>`);
  });
});

it('a provider that does not respond delays no other login', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const { slug } = await createAuthenticator('silent', {
    configuration: configuration({ issuer: `http://127.0.0.1:${port}` }),
  });
  const waiting = new CookieBrowser().visit(`${sso.test.url}/sso/login/${String(slug)}/`);
  await eventually(() => expect(sockets).not.toEqual([]));
  account();
  expect((await logIn()).status).toBe(302);
  expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toBe('still waiting');
  silent.close();
  for (const socket of sockets) socket.destroy();
  await expectRefused(await waiting, `127.0.0.1:${port}`, 503);
});

describe('the secret of the client', () => {
  it('does not appear in responses, rows, logs or activity', async () => {
    const { as, database } = sso.test;
    const lines: unknown[] = [];
    const spies = (['log', 'warn', 'error'] as const).map((level) =>
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...line: unknown[]) => void lines.push(...line)),
    );
    account();
    await logIn();
    await as.superuser.post(`authenticators/${sso.authenticator.id}/test/`, {}).expect(200);
    const wrong = configuration({ client_secret: 'a-secret-of-the-client-2' });
    const url = `authenticators/${sso.authenticator.id}/`;
    const changed = await as.superuser.patch(url, { configuration: wrong }).expect(200);
    await expectRefused(await logIn(), 'invalid_client');
    await as.superuser.patch(url, { configuration: configuration() }).expect(200);
    for (const spy of spies) spy.mockRestore();
    const texts = [
      JSON.stringify(lines),
      JSON.stringify(changed.body),
      (await as.superuser.get('authenticators/').expect(200)).text,
      (await as.auditor.get(url).expect(200)).text,
      (await as.superuser.get(`${url}activity_stream/`).expect(200)).text,
      JSON.stringify(await database.rows(sql`SELECT * FROM authenticators`)),
    ];
    for (const text of texts) expect(text).not.toContain(CLIENT.client_secret);
    expect(lines).toContainEqual(expect.objectContaining({ reason: 'invalid_client' }));
    expect(changed.body.configuration.client_secret).toBe('$encrypted$');
  });

  it('must be entered again after the key of the installation is lost', async () => {
    const { id } = await createAuthenticator('lost');
    const lost = JSON.stringify(configuration({ client_secret: '$sealed$v1$deadbeef$AAAA' }));
    await sso.test.database.execute(
      sql`UPDATE authenticators SET configuration = ${lost}::json WHERE id = ${id}`,
    );
    const response = await new CookieBrowser().visit(`${sso.test.url}/sso/login/lost/`);
    await expectRefused(response, 'its client secret cannot be decrypted, enter it again', 503);
  });

  it('is kept by its placeholder and removed by an empty text', async () => {
    const { as } = sso.test;
    const url = `authenticators/${sso.authenticator.id}/`;
    const kept = configuration({ client_secret: '$encrypted$', username_claim: 'sub' });
    await as.superuser.patch(url, { configuration: kept }).expect(200);
    account();
    expect((await logIn()).status).toBe(302);
    const none = configuration({ client_secret: '' });
    const { body } = await as.superuser.patch(url, { configuration: none }).expect(200);
    expect(body.configuration.client_secret).toBe('');
    await as.superuser.patch(url, { configuration: configuration() }).expect(200);
  });
});
