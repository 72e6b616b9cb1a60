/**
 * Passkeys (docs/second-factor.md#passkeys) work with the virtual authenticator of Chromium. Only a browser
 * sets and checks the origin, and signs.
 *
 * Budget: 40 s, because it makes three authenticators and logs in a dozen times.
 */
import type { Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { inBrowser, visit, type Visit } from './browser.js';

const PASSWORD = 'a good password';
const ASKED_FOR = '/api/v2/teams/?order_by=name';

let test: TestApp;
let user: Row;
let open: Visit;
let verifyUsers: (isVerified: boolean) => Promise<unknown>;

/** Returns an address with a host name: browsers refuse passkeys at IP addresses. */
const at = (path: string): string => test.url.replace('127.0.0.1', 'localhost') + path;

beforeAll(async () => {
  test = await boot();
  user = await test.make.user({ username: 'ada', password: PASSWORD });
  for (const username of ['ann', 'bob', 'eve']) {
    await test.make.user({ username, password: PASSWORD });
  }
});
afterAll(() => test.close());

async function enter(page: Page, username = 'ada'): Promise<void> {
  await page.context().clearCookies();
  await page.goto(at(ASKED_FOR));
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/**
 * Adds an authenticator that verifies its user without a prompt.
 *
 * @returns a function that decides if further verifications succeed
 */
async function addAuthenticator(page: Page): Promise<(isVerified: boolean) => Promise<unknown>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return (isUserVerified) =>
    cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
}

/** Adds the first passkey of a user; resolves to a recovery code. */
async function addPasskey(page: Page, name: string): Promise<string> {
  await page.goto(at('/second-factor/'));
  const card = page.locator('#passkeys');
  await card.getByLabel('Name of the passkey').fill(name);
  await card.locator('#passkey-password').fill(PASSWORD);
  await card.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByText('Keep these recovery codes').waitFor();
  const [code = ''] = (await page.locator('.recovery-codes').innerText()).split('\n');
  return code;
}

const press = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Use a passkey' }).click();

/** Sends the form of a passkey as a script would; resolves to the status. */
async function send(page: Page, body: string, path = 'passkey/'): Promise<number> {
  const cookies = await page.context().cookies();
  const csrf = cookies.find(({ name }) => name === 'csrftoken')?.value ?? '';
  const form = Object.fromEntries(new URLSearchParams(body));
  const response = await page.request.post(at(`/api/login/${path}`), {
    form: { ...form, csrfmiddlewaretoken: csrf },
    headers: { origin: at('') },
    maxRedirects: 0,
  });
  return response.status();
}

inBrowser()('passkeys', () => {
  beforeEach(async () => {
    open = await visit(test, null);
    verifyUsers = await addAuthenticator(open.page);
  });
  afterEach(async () => {
    await open.close();
    expect(open.faults).toEqual([]);
  });

  it('are accepted after the password, once for each challenge, until they are removed', async () => {
    const { page } = open;
    await enter(page);
    const code = await addPasskey(page, 'Phone <b>');
    const sent = page.waitForRequest(at('/api/login/passkey/'));
    await enter(page);
    await press(page);
    await page.locator('.account').getByText('ada', { exact: true }).waitFor();
    expect(page.url()).toBe(at(ASKED_FOR));
    const [row] = await test.database.rows(sql`
      SELECT name, last_used IS NOT NULL AS used FROM passkeys WHERE user_id = ${user.id}`);
    expect(row).toEqual({ name: 'Phone <b>', used: true });

    const body = (await sent).postData() ?? '';
    await enter(page);
    expect(await send(page, body)).toBe(401);
    await press(page);
    await page.locator('.account').getByText('ada', { exact: true }).waitFor();

    await page.goto(at('/second-factor/'));
    await page.locator('#passkeys form').first().getByLabel('Code of').fill(code);
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor();
    await enter(page);
    await page.locator('.account').getByText('ada', { exact: true }).waitFor();
    expect((await test.as.superuser.get(`users/${user.id}/`)).body.has_second_factor).toBe(false);
  });

  it('are accepted for their own user only, and not with another authenticator', async () => {
    const { page } = open;
    await enter(page, 'ann');
    await addPasskey(page, 'Key');
    const intercepted = new Promise<string>((resolve) => {
      void page.route('**/api/login/passkey/', async (route) => {
        resolve(route.request().postData() ?? '');
        await route.abort();
      });
    });
    await enter(page, 'ann');
    await press(page);
    const unused = await intercepted;
    await page.unroute('**/api/login/passkey/');
    const other = await visit(test, null);
    await addAuthenticator(other.page);
    await enter(other.page, 'bob');
    await addPasskey(other.page, 'Key');
    await enter(other.page, 'bob');
    expect(await send(other.page, unused)).toBe(401);
    const state = await other.page.locator('input[name=state]').inputValue();
    const mixed = new URLSearchParams(unused);
    mixed.set('state', state);
    expect(await send(other.page, String(mixed))).toBe(401);
    expect(await send(other.page, 'state=x&credential=%7B%7D')).toBe(401);
    expect(await send(other.page, `state=${encodeURIComponent(state)}&credential=[`)).toBe(401);
    await other.close();
    await enter(page, 'ann');
    expect(await send(page, unused)).toBe(302);
  });

  it('are accepted without a password if the authenticator verifies its user', async () => {
    const { page } = open;
    await test.as.superuser.patch('settings/authentication/', { REQUIRE_TWO_FACTORS: 'all' });
    await enter(page, 'eve');
    await addPasskey(page, 'Phone');
    await page.context().clearCookies();
    await page.goto(at(ASKED_FOR));
    const sent = page.waitForRequest(at('/api/login/passkey/alone/'));
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.locator('.account').getByText('eve', { exact: true }).waitFor();
    expect(page.url()).toBe(at(ASKED_FOR));
    await test.as.superuser.delete('settings/authentication/').expect(204);

    // The same response again, and one to a challenge of another login.
    const body = (await sent).postData() ?? '';
    await page.context().clearCookies();
    await page.goto(at(ASKED_FOR));
    expect(await send(page, body, 'passkey/alone/')).toBe(401);
    const mixed = new URLSearchParams(body);
    mixed.set('state', await page.locator('input[name=state]').inputValue());
    expect(await send(page, String(mixed), 'passkey/alone/')).toBe(401);

    // The authenticator does not verify its user, and the page does not request verification.
    await verifyUsers(false);
    const form = page.locator('form[data-passkey-get]');
    await form.evaluate((element) => {
      const options = JSON.parse(element.dataset.passkeyGet!) as object;
      element.dataset.passkeyGet = JSON.stringify({ ...options, userVerification: 'discouraged' });
    });
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The passkey was not accepted.').waitFor();

    // An account without a local password cannot log in with a passkey alone either.
    await verifyUsers(true);
    await test.database.execute(sql`UPDATE users SET password_hash = '' WHERE username = 'eve'`);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('This account cannot log in with a passkey alone.').waitFor();
    open.faults.length = 0;
  });
});
