/** Logins with SAML (docs/single-sign-on.md#saml). */
import { generateKeyPairSync } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { sql } from '../../src/database/sql.js';
import { SamlResponsesRepository } from '../../src/identity/saml-responses.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { SAML_CERTIFICATE } from '../support/fakes/saml-certificate.js';
import {
  assertionOf,
  ENTRY_POINT,
  IDP_ENTITY_ID,
  responseOf,
  samlRequestIn,
  signed,
  type AssertionFacts,
  type SamlRequest,
} from '../support/fakes/saml-provider.js';
import { samlifyResponse } from '../support/fakes/samlify-provider.js';
import { expectRefused } from '../support/single-sign-on.js';

let test: TestApp;
let authenticator: Row;
let names = 0;

beforeAll(async () => {
  test = await boot();
  await test.as.superuser.patch('settings/system/', { BASE_URL: test.url }).expect(200);
  authenticator = await test.make.row('authenticator', {
    name: 'saml',
    kind: 'saml',
    configuration: {
      entry_point: ENTRY_POINT,
      idp_entity_id: IDP_ENTITY_ID,
      certificates: SAML_CERTIFICATE,
    },
  });
  await test.make.row('authenticator_map', {
    ...{ authenticator: authenticator.id, name: 'ops', map_type: 'team', trigger: 'equals' },
    ...{ claim: 'groups', value: 'ops', team: test.home.team.id, role: 'member_role' },
  });
});
afterAll(() => test.close());

const person = (facts: Partial<AssertionFacts> = {}): AssertionFacts => {
  const name = `saml-${(names += 1)}`;
  return { nameId: name, attributes: { uid: name, mail: `${name}@example.com` }, ...facts };
};

/**
 * Starts a login in a browser.
 * @returns the URL of the provider in the redirection
 */
async function providerUrl(browser: CookieBrowser): Promise<string> {
  const response = await browser.visit(`${test.url}/sso/login/saml/?next=/api/v2/teams/`);
  return response.headers.get('location') ?? '';
}

const begin = async (browser: CookieBrowser): Promise<SamlRequest> =>
  samlRequestIn(await providerUrl(browser));

/** Posts a response, as the form of this site does. */
function send(
  browser: CookieBrowser,
  request: SamlRequest,
  xml: string,
  fields: Record<string, string> = { again: 'true' },
): Promise<Response> {
  const body = new URLSearchParams({
    SAMLResponse: Buffer.from(xml).toString('base64'),
    RelayState: request.relayState,
    ...fields,
  });
  return browser.visit(request.callback, {}, { method: 'POST', body });
}

/** Function that creates a response to a request. */
type Make = (request: SamlRequest) => string;

async function logIn(make: Make, browser = new CookieBrowser()): Promise<Response> {
  const request = await begin(browser);
  return send(browser, request, make(request));
}

const answer =
  (facts: AssertionFacts): Make =>
  (request) =>
    signed(responseOf(request, assertionOf(request, facts), facts));

const rolesOf = async (username: string): Promise<string[]> => {
  const user = await userOf(username);
  const { body } = await test.as.superuser.get(`users/${String(user?.id)}/roles/`).expect(200);
  return body.results.map(
    (role: { name: string; summary_fields: { resource_name?: string } }) =>
      `${role.name} ${role.summary_fields.resource_name ?? ''}`,
  );
};

const userOf = async (username: string): Promise<Record<string, unknown> | undefined> =>
  (await test.as.superuser.get(`users/?username=${username}`).expect(200)).body.results[0];

it('a login uses a form of this site, and maps attributes to roles', async () => {
  const facts = person();
  const browser = new CookieBrowser();
  const request = await begin(browser);
  expect(request).toMatchObject({
    callback: `${test.url}/sso/callback/saml/`,
    audience: `${test.url}/sso/metadata/saml/`,
  });
  const groups = { attributes: { ...facts.attributes, groups: ['dev', 'ops'] } };
  const xml = answer({ ...facts, ...groups })(request);
  const form = await send(new CookieBrowser(), request, xml, {});
  const page = await form.text();
  expect(page).toContain(`name="RelayState" value="${request.relayState}"`);
  expect(page).toContain(Buffer.from(xml).toString('base64'));
  const done = await send(browser, request, xml);
  expect([done.status, done.headers.get('location')]).toEqual([302, '/api/v2/teams/']);
  expect(browser.jarOf(test.url).has(SESSION_COOKIE)).toBe(true);
  const user = await userOf(facts.nameId);
  expect(user).toMatchObject({ email: `${facts.nameId}@example.com`, external_account: 'saml' });
  expect(await rolesOf(facts.nameId)).toEqual(['Member Home Team']);
});

it('a role is revoked when the identity provider no longer sends the group', async () => {
  const metadata = await (await fetch(`${test.url}/sso/metadata/saml/`)).text();
  const logInWith = async (groups: string): Promise<string[]> => {
    const browser = new CookieBrowser();
    const url = await providerUrl(browser);
    const request = samlRequestIn(url);
    const xml = await samlifyResponse(metadata, url, request, { uid: 'samlify-user', groups });
    const response = await send(browser, request, xml);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/api/v2/teams/']);
    return rolesOf('samlify-user');
  };
  expect(await logInWith('ops')).toEqual(['Member Home Team']);
  const { id } = (await userOf('samlify-user'))!;
  const organization = test.home.organization.id;
  await test.as.superuser.post(`organizations/${organization}/users/`, { id }).expect(204);
  expect(await logInWith('dev')).toEqual(['Member Home']);
});

it('the metadata are public', async () => {
  const response = await fetch(`${test.url}/sso/metadata/saml/`);
  const xml = await response.text();
  expect(xml).toContain(`entityID="${test.url}/sso/metadata/saml/"`);
  expect(xml).toContain(`Location="${test.url}/sso/callback/saml/"`);
  expect(xml).toContain('WantAssertionsSigned="true"');
  expect((await fetch(`${test.url}/sso/metadata/other/`)).status).toBe(404);
});

const { privateKey: otherKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

/** Text of an element in a response. */
const partOf = (xml: string, name: string): string =>
  new RegExp(`<${name}[ >].*</${name}>`, 's').exec(xml)?.[0] ?? '';

/** Moves the signed assertion of one user into a response about another user. */
const wrapped =
  (place: (forged: string, original: string, signature: string) => string): Make =>
  (request) => {
    const original = partOf(answer(person())(request), 'saml:Assertion');
    const forged = assertionOf(request, person({ nameId: 'admin', attributes: { uid: 'admin' } }));
    return responseOf(request, place(forged, original, partOf(original, 'Signature')));
  };

const ENTITY = '<!DOCTYPE r [<!ENTITY name "admin">]>';

it.each<[string, Make, string]>([
  [
    'that is not signed',
    (request) => responseOf(request, assertionOf(request, person())),
    'Invalid signature',
  ],
  [
    'whose assertion is not signed, only the response',
    (request) => signed(responseOf(request, assertionOf(request, person())), { part: 'response' }),
    'Invalid signature',
  ],
  [
    'that another key signed',
    (request) => signed(responseOf(request, assertionOf(request, person())), { key: otherKey }),
    'Invalid signature',
  ],
  [
    'that was changed',
    (request) => answer(person())(request).replaceAll(/saml-\d+</g, 'admin<'),
    'Invalid signature',
  ],
  [
    'with a second assertion before the signed one',
    wrapped((forged, original) => forged + original),
    'Invalid signature',
  ],
  [
    'with a second assertion after the signed one',
    wrapped((forged, original) => original + forged),
    'Invalid signature',
  ],
  [
    'with the signed assertion inside of another one',
    wrapped((forged, original) => forged.replace('<saml:Subject>', `${original}<saml:Subject>`)),
    'Invalid signature',
  ],
  [
    'with the signed assertion in the signature of another one',
    wrapped((forged, original, signature) =>
      forged.replace(
        '<saml:Subject>',
        `${signature.replace('</Signature>', `<Object>${original.replace(signature, '')}</Object></Signature>`)}<saml:Subject>`,
      ),
    ),
    'Invalid signature',
  ],
  ['that has expired', answer(person({ notOnOrAfter: -90 })), 'No valid subject confirmation'],
  ['of the future', answer(person({ notBefore: 90 })), 'not yet valid'],
  ['for another audience', answer(person({ audience: 'https://other' })), 'audience mismatch'],
  ['of another issuer', answer(person({ issuer: 'https://evil' })), 'wrong issuer'],
  ['for another address', answer(person({ recipient: 'https://other' })), 'wrong request'],
  ['without a request', answer(person({ request: null })), 'InResponseTo is missing'],
  ['to another request', answer(person({ request: '_other' })), 'InResponseTo is not valid'],
  [
    'whose assertion is for no request',
    answer(person({ subjectRequest: null })),
    'wrong request or recipient',
  ],
  [
    'whose assertion is for another request',
    answer(person({ subjectRequest: '_other' })),
    'InResponseTo does not match',
  ],
  [
    'with a document type',
    (request) => ENTITY + answer(person())(request),
    'it contains a document type declaration',
  ],
  ['that is not XML', () => 'nonsense', 'is invalid'],
  [
    'with a NameID that changes',
    answer(person({ format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' })),
    'changes at each login',
  ],
])('a response is refused %s', async (_name, make, reason) => {
  await expectRefused(await logIn(make), reason);
  expect(await userOf('admin')).toBeUndefined();
});

it('a clock difference of a minute is accepted', async () => {
  expect((await logIn(answer(person({ notOnOrAfter: -30 })))).status).toBe(302);
  expect((await logIn(answer(person({ notBefore: 30 })))).status).toBe(302);
});

it('a NameID that contains an XML comment is read completely', async () => {
  const facts = person({ nameId: 'admin<!-- x -->.evil' });
  expect((await logIn(answer(facts))).status).toBe(302);
  const [row] = await test.database.rows(sql`
    SELECT subject FROM external_identities WHERE subject LIKE 'admin%'`);
  expect(row).toEqual({ subject: 'admin.evil' });
});

it('a response is accepted once, and only in the browser that started the login', async () => {
  const browser = new CookieBrowser();
  const request = await begin(browser);
  const xml = answer(person())(request);
  const cookies = new Map(browser.jarOf(test.url));
  await expectRefused(await send(new CookieBrowser(), request, xml), 'did not begin');
  expect((await send(browser, request, xml)).status).toBe(302);
  await expectRefused(await send(browser, request, xml), 'was used before');
  const copy = new CookieBrowser();
  for (const [name, value] of cookies) copy.jarOf(test.url).set(name, value);
  await expectRefused(await send(copy, request, xml), 'the response was used before');
});

it('a login needs BASE_URL, because a Host header could name another service of the provider', async () => {
  const browser = new CookieBrowser();
  const request = await begin(browser);
  await test.as.superuser.patch('settings/system/', { BASE_URL: '' }).expect(200);
  await expectRefused(await send(browser, request, answer(person())(request)), 'BASE_URL');
  await expectRefused(await new CookieBrowser().visit(`${test.url}/sso/login/saml/`), 'BASE_URL');
  expect((await fetch(`${test.url}/sso/metadata/saml/`)).status).toBe(403);
  await test.as.superuser.patch('settings/system/', { BASE_URL: test.url }).expect(200);
});

it('a response whose verification takes long is refused', async () => {
  // Only a browser with a session can send so much.
  const browser = new CookieBrowser();
  expect((await logIn(answer(person()), browser)).status).toBe(302);
  const slow: Make = (request) => responseOf(request, '<a/>'.repeat(40_000));
  await expectRefused(await logIn(slow, browser), 'it takes too long');
  expect((await logIn(answer(person()))).status).toBe(302);
});

it('a failure of the database does not make a response invalid, and stays internal', async () => {
  const browser = new CookieBrowser();
  const request = await begin(browser);
  const failure = jest
    .spyOn(test.app.get(SamlResponsesRepository, { strict: false }), 'take')
    .mockRejectedValueOnce(new Error('no space left in /data'));
  const answered = await send(browser, request, answer(person())(request));
  failure.mockRestore();
  expect(answered.status).toBe(500);
  expect(await answered.text()).not.toContain('/data');
});

it('an invalid configuration is refused', async () => {
  const url = `authenticators/${authenticator.id}/`;
  const { body } = await test.as.superuser
    .patch(url, {
      configuration: { entry_point: 'ftp://x', idp_entity_id: 'x', certificates: 'x' },
    })
    .expect(400);
  expect(Object.keys(body.configuration).sort()).toEqual(['certificates', 'entry_point']);
  await test.as.superuser.post(`${url}test/`, {}).expect(400);
  const claims = { groups: ['ops'] };
  const trial = await test.as.superuser.post(`${url}test/`, { claims }).expect(200);
  expect(trial.body.roles).toEqual([
    { type: 'team', object: test.home.team.id, field: 'member_role' },
  ]);
});
