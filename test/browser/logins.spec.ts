/**
 * Logins from the button to the page that was asked for. They need a browser, because redirects of
 * forms to other servers depend on the content security policy, and one starts OpenLDAP's slapd. Each
 * login takes a second, with scripts and without.
 *
 * Budget: 45 s, because each login runs twice, with scripts and without.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ADMIN, Directory, PEOPLE } from '../support/fakes/directory.js';
import { FakeGithub, GITHUB_CLIENT } from '../support/fakes/github.js';
import { CLIENT, IdentityProvider } from '../support/fakes/identity-provider.js';
import { SAML_CERTIFICATE } from '../support/fakes/saml-certificate.js';
import { IDP_ENTITY_ID, samlRequestIn, type SamlRequest } from '../support/fakes/saml-provider.js';
import { samlifyResponse } from '../support/fakes/samlify-provider.js';
import { describePagesBothWays } from './browser.js';

const PASSWORD = 'a good password';
const ASKED_FOR = '/api/v2/teams/?order_by=name';

let test: TestApp;
let user: Row;
beforeAll(async () => {
  test = await boot();
  user = await test.make.user({ username: 'boss', password: PASSWORD });
});
afterAll(() => test.close());

/** Opens a page without a session, which shows the login. */
async function askFor(page: Page, path: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto(path);
}

async function enter(page: Page, username: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

describePagesBothWays(
  'the first login of the administrator',
  () => ({ test, user }),
  (open, hasScripts) => {
    it('prompts for another password, and later logins do not', async () => {
      const { page } = open;
      await test.database.execute(sql`
      UPDATE users SET username = username || '-' || id WHERE username = 'admin'`);
      const admin = await test.make.user({ username: 'admin', password: PASSWORD });
      await askFor(page, ASKED_FOR);
      await enter(page, 'admin');
      await page.getByRole('heading', { name: 'Change password' }).waitFor();
      if (hasScripts) await page.getByRole('link', { name: 'Not now' }).click();
      else {
        await page.getByLabel('New password').fill('a better password');
        await page.getByRole('button', { name: 'Change password' }).click();
      }
      const password = hasScripts ? PASSWORD : 'a better password';
      await askFor(page, ASKED_FOR);
      await enter(page, 'admin', password);
      await expectAskedFor(page, String(admin.username));
    });
  },
);

async function expectAskedFor(page: Page, username: string): Promise<void> {
  await page.locator('.account').getByText(username, { exact: true }).waitFor();
  expect(page.url()).toBe(`${test.url}${ASKED_FOR}`);
}

/** Page of an identity provider that posts its response. */
const samlForm = ({ callback, relayState }: SamlRequest, xml: string): string =>
  `<form method="post" action="${callback}">
  <input type="hidden" name="SAMLResponse" value="${Buffer.from(xml).toString('base64')}">
  <input type="hidden" name="RelayState" value="${relayState}"><button>Send response</button></form>`;

const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Sets up an app on the page of the second factor. Resolves to the secret. */
async function setUp(page: Page): Promise<string> {
  await page.getByLabel('Password', { exact: true }).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Set up authenticator app' }).click();
  const shown = await page.locator('p', { hasText: 'Secret:' }).locator('code').innerText();
  const secret = shown.replaceAll(' ', '');
  expect(await page.getByRole('img', { name: 'QR code' }).locator('svg').isVisible()).toBe(true);
  await page.getByLabel('Code that the app shows').fill(codeOf(secret));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Keep these recovery codes').waitFor();
  return secret;
}

const session = () => ({ test, user });

describePagesBothWays('logins', session, (open, hasScripts) => {
  const suffix = hasScripts ? 'a' : 'b';

  it('with OpenID Connect', async () => {
    const name = `Company ${suffix}`;
    const slug = `company-${suffix}`;
    const provider = await IdentityProvider.start([`${test.url}/sso/callback/${slug}/`]);
    const configuration = { issuer: provider.issuer, ...CLIENT };
    await test.make.row('authenticator', { name, slug, configuration });
    provider.accounts[provider.account] = { preferred_username: `oidc-${suffix}` };
    await askFor(open.page, ASKED_FOR);
    await open.page.getByRole('link', { name: `Log in with ${name}` }).click();
    await expectAskedFor(open.page, `oidc-${suffix}`);
    await provider.close();
  });

  it('with GitHub', async () => {
    const github = await FakeGithub.start();
    const name = `GitHub ${suffix}`;
    const configuration = { base_url: github.url, ...GITHUB_CLIENT };
    const { id } = await test.make.row('authenticator', { name, kind: 'github', configuration });
    await test.make.row('authenticator_map', {
      ...{ authenticator: id, name: 'staff', map_type: 'allow', trigger: 'equals' },
      ...{ claim: 'organizations', value: 'acme' },
    });
    github.account({ id: 1, login: `octocat-${suffix}` }, ['acme']);
    await askFor(open.page, ASKED_FOR);
    await open.page.getByRole('link', { name: `Log in with ${name}` }).click();
    await expectAskedFor(open.page, `octocat-${suffix}`);
    await github.close();
  });

  it('with SAML', async () => {
    const { page } = open;
    const name = `SAML ${suffix}`;
    const slug = `saml-${suffix}`;
    const user = { uid: `saml-${suffix}`, groups: 'ops' };
    const provider = createServer((incoming, response) => {
      const url = `http://127.0.0.1${incoming.url}`;
      const request = samlRequestIn(url);
      void samlifyResponse(metadata, url, request, user).then((xml) =>
        response.setHeader('Content-Type', 'text/html').end(samlForm(request, xml)),
      );
    });
    const configuration = {
      entry_point: await listen(provider),
      idp_entity_id: IDP_ENTITY_ID,
      certificates: SAML_CERTIFICATE,
    };
    await test.as.superuser.patch('settings/system/', { BASE_URL: test.url }).expect(200);
    await test.make.row('authenticator', { name, slug, kind: 'saml', configuration });
    const metadata = await (await fetch(`${test.url}/sso/metadata/${slug}/`)).text();
    await askFor(page, ASKED_FOR);
    await page.getByRole('link', { name: `Log in with ${name}` }).click();
    await page.getByRole('button', { name: 'Send response' }).click();
    if (!hasScripts) await page.getByRole('button', { name: 'Continue' }).click();
    await expectAskedFor(page, `saml-${suffix}`);
    provider.close();
  });

  it('with LDAP', async () => {
    const directory = await Directory.start();
    await directory.person(`ldap-${suffix}`);
    const configuration = { servers: directory.url, user_base: PEOPLE, ...ADMIN };
    const { id } = await test.make.row('authenticator', {
      ...{ name: `LDAP ${suffix}`, kind: 'ldap', configuration },
    });
    await askFor(open.page, ASKED_FOR);
    await enter(open.page, `ldap-${suffix}`, `ldap-${suffix}-secret`);
    await expectAskedFor(open.page, `ldap-${suffix}`);
    await test.as.superuser.delete(`authenticators/${id}/`).expect(204);
    await directory.close();
  });

  it('with a password and a code', async () => {
    const { page } = open;
    const username = `codes-${suffix}`;
    await test.make.user({ username, password: PASSWORD });
    await askFor(page, '/second-factor/');
    await enter(page, username);
    const secret = await setUp(page);
    const [recovery = ''] = (await page.locator('.recovery-codes').innerText()).split('\n');
    await askFor(page, ASKED_FOR);
    await enter(page, username);
    const code = page.getByLabel('Code of your authenticator app, or a recovery code');
    await code.fill('000000');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await code.fill(codeOf(secret, 1));
    await page.getByRole('button', { name: 'Log in' }).click();
    await expectAskedFor(page, username);
    // The phone is lost.
    await askFor(page, ASKED_FOR);
    await enter(page, username);
    await code.fill(recovery);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expectAskedFor(page, username);
  });

  it('that require a second factor redirect to its setup, and then to the page', async () => {
    const { page } = open;
    const username = `demanded-${suffix}`;
    await test.make.user({ username, password: PASSWORD });
    const demand = (REQUIRE_TWO_FACTORS: string) =>
      test.as.superuser.patch('settings/authentication/', { REQUIRE_TWO_FACTORS }).expect(200);
    await demand('all');
    await askFor(page, ASKED_FOR);
    await enter(page, username);
    await page.waitForURL((url) => url.pathname === '/second-factor/');
    await setUp(page);
    await page.getByRole('link', { name: 'Continue' }).click();
    await expectAskedFor(page, username);
    await demand('none');
  });

  it('with the authorization of an application', async () => {
    const { page } = open;
    const client = createServer((_request, response) => response.end('Back at the application.'));
    const callback = await listen(client);
    const { body: application } = await test.as.superuser
      .post('applications/', {
        ...{ name: `Client ${suffix}`, organization: test.home.organization.id },
        ...{ client_type: 'confidential', authorization_grant_type: 'authorization-code' },
        redirect_uris: callback,
      })
      .expect(201);
    const request = new URLSearchParams({
      ...{ client_id: application.client_id, response_type: 'code', state: 'state-of-client' },
      redirect_uri: callback,
    });
    const path = `/api/o/authorize/?${String(request)}`;
    await askFor(page, path);
    await enter(page, 'boss');
    await page.getByRole('heading', { name: `Authorize Client ${suffix}?` }).waitFor();
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.getByText('Back at the application.').waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('state')).toBe('state-of-client');
    expect(searchParams.get('code')).toMatch(/.{20}/);
    // A link cannot change the decision of a button.
    await page.goto(`${path}&allow=1&decision=allow`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Back at the application.').waitFor();
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
    client.close();
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/cb`;
}
