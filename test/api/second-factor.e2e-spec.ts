/** Authenticator apps and recovery codes (docs/second-factor.md). */
import { TOTP } from 'otpauth';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SecondFactors } from '../../src/auth/second-factors.service.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';

const PASSWORD = 'a long enough password';
const HALF_LOGIN = 'controller_half_login';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const at = (path: string): string => `${test.url}${path}`;
const pageOf = (response: Response): Promise<string> => response.text();
const hasSession = (browser: CookieBrowser): boolean => browser.jarOf(test.url).has(SESSION_COOKIE);

/**
 * Returns the code of a secret, `steps` of 30 seconds from now. The code of the next step stays valid if a
 * new step begins during the test, and is later than the one used in the setup.
 */
const codeOf = (secret: string, steps = 1): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });

const makeUser = (fields: Record<string, unknown> = {}): Promise<Row> =>
  test.make.user({ password: PASSWORD, ...fields });

/** Sends name and password. With a second factor, the browser then has an incomplete login. */
async function enterPassword(user: Row, next = '/'): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  await browser.visit(at('/api/login/'));
  const fields = { username: String(user.username), password: PASSWORD, next };
  expect((await browser.send(at('/api/login/'), fields)).status).toBe(302);
  return browser;
}

const enterCode = (browser: CookieBrowser, code: string): Promise<Response> =>
  browser.send(at('/api/login/code/'), { code });

/** Requests a new secret with the password. */
async function begin(browser: CookieBrowser): Promise<{ secret: string; setup: string }> {
  const page = await pageOf(
    await browser.send(at('/second-factor/begin/'), { password: PASSWORD }),
  );
  const [, secret = ''] = /Secret: <code>([A-Z2-7 ]+)</.exec(page) ?? [];
  const [, setup = ''] = /name="setup" value="([^"]+)"/.exec(page) ?? [];
  return { secret: secret.replaceAll(' ', ''), setup };
}

interface Enrolled {
  browser: CookieBrowser;
  secret: string;
  /** Code that was already used. */
  used: string;
  codes: string[];
}

/** Sets up an authenticator app for the user. */
async function enrol(user: Row): Promise<Enrolled> {
  const browser = await enterPassword(user);
  const { secret, setup } = await begin(browser);
  const used = codeOf(secret, 0);
  const fields = { setup, code: used };
  const page = await pageOf(await browser.send(at('/second-factor/confirm/'), fields));
  const [, codes = ''] = /<pre class="recovery-codes">([^<]+)</.exec(page) ?? [];
  return { browser, secret, used, codes: codes.split('\n') };
}

const basic = ({ username }: Row): ApiClient => {
  const login = Buffer.from(`${String(username)}:${PASSWORD}`).toString('base64');
  return test.as.anonymous.with({ authorization: `Basic ${login}` });
};

const changesOf = async ({ id }: Row): Promise<unknown[]> => {
  const { body } = await test.as.superuser
    .get(`users/${id}/activity_stream/?operation=update&order_by=id`)
    .expect(200);
  return body.results.map(({ changes }: { changes: unknown }) => changes);
};

it('the second factor is set up with password and code, and required at the next login', async () => {
  const user = await makeUser();
  const old = await enterPassword(user);
  const { browser, secret, codes } = await enrol(user);
  expect(new Set(codes).size).toBe(10);
  expect((await browser.visit(at('/second-factor/'))).status).toBe(200);
  expect((await old.visit(at('/second-factor/'))).headers.get('location')).toContain('/api/login/');

  const login = await enterPassword(user, '/api/v2/teams/?page=2');
  expect(hasSession(login)).toBe(false);
  expect((await login.visit(at('/api/v2/me/'))).status).toBe(302);
  expect((await enterCode(login, '000000')).status).toBe(401);
  const done = await enterCode(login, codeOf(secret));
  expect([done.status, done.headers.get('location')]).toEqual([302, '/api/v2/teams/?page=2']);
  expect((await login.visit(at('/api/v2/me/'))).status).toBe(200);
  expect(login.jarOf(test.url).has(HALF_LOGIN)).toBe(false);

  const { body } = await test.as.superuser.get(`users/${user.id}/`).expect(200);
  expect(body.has_second_factor).toBe(true);
  expect(await changesOf(user)).toEqual([{ has_second_factor: [false, true] }]);
  const [row] = await test.database.rows<{ secret: string }>(sql`
    SELECT secret FROM totp_secrets WHERE user_id = ${user.id}`);
  expect(row?.secret).toMatch(/^\$sealed\$/);
});

it('a code is accepted once, even for two simultaneous logins', async () => {
  const user = await makeUser();
  const { secret, used } = await enrol(user);
  expect((await enterCode(await enterPassword(user), used)).status).toBe(401);
  const browsers = await Promise.all([enterPassword(user), enterPassword(user)]);
  const code = codeOf(secret);
  const answers = await Promise.all(browsers.map((browser) => enterCode(browser, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([302, 401]);
  expect(browsers.filter(hasSession)).toHaveLength(1);
});

it('a code that is two steps early or late is refused', async () => {
  const user = await makeUser();
  const { secret } = await enrol(user);
  const browser = await enterPassword(user);
  expect((await enterCode(browser, codeOf(secret, 3))).status).toBe(401);
  expect((await enterCode(browser, codeOf(secret))).status).toBe(302);
});

it('after five wrong codes, only recovery codes are checked for a minute', async () => {
  const user = await makeUser();
  const { secret, codes } = await enrol(user);
  const browser = await enterPassword(user);
  for (let guess = 0; guess < 5; guess += 1) {
    expect((await enterCode(browser, '000000')).status).toBe(401);
  }
  const locked = await enterCode(browser, codeOf(secret));
  expect([locked.status, Number(locked.headers.get('retry-after')) > 30]).toEqual([429, true]);
  const again = await enterPassword(user);
  expect((await enterCode(again, codeOf(secret))).status).toBe(429);
  expect((await enterCode(again, String(codes[0]))).status).toBe(302);
  const state = sql`FROM totp_secrets WHERE user_id = ${user.id}`;
  await test.database.execute(sql`
    UPDATE totp_secrets SET locked_until = now(), failures = 30 WHERE user_id = ${user.id}`);
  const browserAfter = await enterPassword(user);
  expect((await enterCode(browserAfter, '000000')).status).toBe(401);
  const [row] = await test.database.rows<{ hour: number }>(sql`
    SELECT round(extract(epoch FROM locked_until - now()) / 3600)::int AS hour ${state}`);
  expect(row?.hour).toBe(1);
});

it('a recovery code is accepted once, and only for its user', async () => {
  const [ada, bob] = [await makeUser(), await makeUser()];
  const [{ codes, browser, secret }, ofBob] = [await enrol(ada), await enrol(bob)];
  expect((await enterCode(await enterPassword(ada), String(ofBob.codes[0]))).status).toBe(401);
  const typed = String(codes[0]).toLowerCase().replaceAll('-', ' ');
  expect((await enterCode(await enterPassword(ada), typed)).status).toBe(302);
  expect((await enterCode(await enterPassword(ada), typed)).status).toBe(401);
  expect(await changesOf(ada)).toContainEqual({ recovery_codes_left: [10, 9] });
  const wrong = await browser.send(at('/second-factor/codes/'), { code: '000000' });
  expect(wrong.status).toBe(403);
  const renewed = await browser.send(at('/second-factor/codes/'), { code: codeOf(secret) });
  expect(await pageOf(renewed)).toContain('recovery-codes');
  expect((await enterCode(await enterPassword(ada), String(codes[1]))).status).toBe(401);
});

it('a code of an app whose secret cannot be decrypted is refused with a reason', async () => {
  const user = await makeUser();
  const { secret, codes } = await enrol(user);
  await test.database.execute(sql`
    UPDATE totp_secrets SET secret = secret || 'x' WHERE user_id = ${user.id}`);
  const browser = await enterPassword(user);
  const refused = await enterCode(browser, codeOf(secret));
  expect(refused.status).toBe(401);
  expect(await pageOf(refused)).toContain('cannot be decrypted. Enter a recovery code');
  expect((await enterCode(browser, codes[0]!)).status).toBe(302);
});

describe('an incomplete login', () => {
  it('ends with a change of the password, and cannot be forged', async () => {
    const user = await makeUser();
    const { secret } = await enrol(user);
    const browser = await enterPassword(user);
    const password = 'another long password';
    await test.as.superuser.patch(`users/${user.id}/`, { password }).expect(200);
    expect((await enterCode(browser, codeOf(secret))).status).toBe(401);
    browser.jarOf(test.url).set(HALF_LOGIN, 'made-up');
    expect((await enterCode(browser, codeOf(secret))).status).toBe(401);
    expect(hasSession(browser)).toBe(false);
  });

  it('accepts no code of another user', async () => {
    const [ada, bob] = [await makeUser(), await makeUser()];
    const [, { secret }] = [await enrol(ada), await enrol(bob)];
    expect((await enterCode(await enterPassword(ada), codeOf(secret))).status).toBe(401);
  });

  it('requires the CSRF token', async () => {
    const user = await makeUser();
    const { secret } = await enrol(user);
    const browser = await enterPassword(user);
    browser.jarOf(test.url).delete('csrftoken');
    expect((await enterCode(browser, codeOf(secret))).status).toBe(403);
  });
});

it('the second factor cannot be set up by a session alone, or in another session', async () => {
  const [user, other] = [await makeUser(), await makeUser()];
  const browser = await enterPassword(user);
  const wrong = await browser.send(at('/second-factor/begin/'), { password: 'wrong' });
  expect([wrong.status, (await pageOf(wrong)).includes('Secret:')]).toEqual([403, false]);
  const { secret, setup } = await begin(browser);
  for (const session of [await enterPassword(user), await enterPassword(other)]) {
    const fields = { setup, code: codeOf(secret) };
    expect((await session.send(at('/second-factor/confirm/'), fields)).status).toBe(403);
  }
  const fields = { setup, code: '000000' };
  expect((await browser.send(at('/second-factor/confirm/'), fields)).status).toBe(400);
  const client = await test.as.asUser(user);
  expect((await client.get('me/')).body.results[0].has_second_factor).toBe(false);
  const { status } = await fetch(at('/second-factor/begin/'), {
    ...{ method: 'POST', body: new URLSearchParams({ password: PASSWORD }) },
    headers: {
      authorization: `Basic ${Buffer.from(`${String(user.username)}:${PASSWORD}`).toString('base64')}`,
    },
  });
  expect(status).toBe(403);
});

it('a second factor is changed with a code only, because a stolen session can set a password', async () => {
  const { browser, codes } = await enrol(await makeUser());
  const more = { name: 'Phone', id: '1' };
  for (const step of ['begin', 'codes', 'passkeys/begin', 'passkeys/remove']) {
    const fields = { ...more, password: PASSWORD };
    const refused = await browser.send(at(`/second-factor/${step}/`), fields);
    expect([step, refused.status]).toEqual([step, 403]);
    expect(await pageOf(refused)).toContain('The code is wrong, or was used before.');
  }
  const fields = { ...more, code: String(codes[0]) };
  const begun = await browser.send(at('/second-factor/passkeys/begin/'), fields);
  expect(await pageOf(begun)).toContain('Create passkey');
});

it('HTTP Basic is refused, and tokens stay valid', async () => {
  const user = await makeUser();
  await basic(user).get('me/').expect(200);
  const client = await test.as.asUser(user);
  await enrol(user);
  const { body } = await basic(user).get('me/').expect(401);
  expect(body.detail).toContain('second factor: send a token');
  await client.get('me/').expect(200);
});

describe('the removal of the second factor', () => {
  const remove = (client: ApiClient, { id }: Row, proof: object = {}) =>
    client.post(`users/${id}/remove_second_factor/`, proof);
  /** Counts the removals in this process, including those of earlier test files. */
  const removals = async (): Promise<number> => {
    const { body } = await test.as.superuser.get('metrics/').expect(200);
    return body.controller_security_events_total.samples.find(
      ({ labels }: { labels: { event: string } }) => labels.event === 'second_factor_removed',
    ).value;
  };

  it('requires a code from the user, and nothing from a superuser', async () => {
    const user = await makeUser();
    const { codes, secret: first } = await enrol(user);
    const client = await test.as.asUser(user);
    const before = await removals();
    await remove(client, user).expect(403);
    await remove(client, user, { password: PASSWORD }).expect(403);
    for (let guess = 0; guess < 5; guess += 1) {
      await remove(client, user, { code: '000000' }).expect(403);
    }
    await remove(client, user, { code: codeOf(first) }).expect(429);
    await remove(client, user, { code: codes[0] }).expect(204);
    await remove(client, user).expect(204);
    await basic(user).get('me/').expect(200);
    const { secret } = await enrol(user);
    await remove(client, user, { code: codeOf(secret) }).expect(204);
    await enrol(user);
    await remove(test.as.orgAdmin, user).expect(403);
    await remove(test.as.superuser, user).expect(204);
    expect(hasSession(await enterPassword(user))).toBe(true);
    expect((await changesOf(user)).at(-1)).toEqual({ has_second_factor: [true, false] });
    expect(await removals()).toBe(before + 3);
  });
});

describe('REQUIRE_TWO_FACTORS', () => {
  const demand = (value: string) =>
    test.as.superuser.patch('settings/authentication/', { REQUIRE_TWO_FACTORS: value });
  afterEach(() => demand('none').expect(200));

  const placeOf = async (browser: CookieBrowser, path: string): Promise<unknown> => {
    const response = await browser.visit(at(path));
    return response.headers.get('location') ?? response.status;
  };

  it('permits users without a second factor to set one up, and permits tokens', async () => {
    await demand('some').expect(400);
    await demand('all').expect(200);
    const user = await makeUser();
    const client = await test.as.asUser(user);
    const browser = await enterPassword(user);
    const setUp = '/second-factor/?next=%2Fapi%2Fv2%2Fteams%2F%3Fpage%3D1';
    expect(await placeOf(browser, '/api/v2/teams/?page=1')).toBe(setUp);
    expect(await placeOf(browser, '/')).toBe('/second-factor/?next=%2F');
    const reason = 'Your account needs a second factor';
    expect(await (await browser.visit(at('/second-factor/'))).text()).toContain(reason);
    const json = await browser.visit(at('/api/v2/teams/'), { accept: 'application/json' });
    expect([json.status, await json.json()]).toEqual([
      403,
      { detail: 'Set up a second factor on the page /second-factor/ first.' },
    ]);
    expect((await browser.send(at('/api/v2/tokens/'), {})).status).toBe(403);
    expect(await placeOf(browser, '/api/login/')).toBe(200);
    const { body } = await basic(user).get('me/').expect(401);
    expect(body.detail).toContain('must set up, a second factor');
    await client.get('me/').expect(200);
    const { secret, setup } = await begin(browser);
    await browser.send(at('/second-factor/confirm/'), { setup, code: codeOf(secret) });
    expect(await placeOf(browser, '/api/v2/teams/')).toBe(200);
    expect(await placeOf(await enterPassword(await makeUser()), setUp)).toBe(200);
    expect((await browser.send(at('/api/logout/'), {})).status).toBe(302);
    expect(hasSession(browser)).toBe(false);
  });

  it('applies to superusers and auditors only, with `admins`', async () => {
    await demand('admins').expect(200);
    const flags = [{}, { is_superuser: true }, { is_system_auditor: true }];
    const users = await Promise.all(flags.map((flag) => makeUser(flag)));
    const statuses = await Promise.all(users.map((user) => basic(user).get('me/')));
    expect(statuses.map(({ status }) => status)).toEqual([200, 401, 401]);
  });
});

it('replaces the recovery codes once for simultaneous requests', async () => {
  const user = await makeUser();
  await enrol(user);
  const factors = test.app.get(SecondFactors, { strict: false });
  await Promise.all(Array.from({ length: 12 }).map(() => factors.renewCodes(user.id)));
  expect((await factors.stateOf(user.id))?.codesLeft).toBe(10);
});
