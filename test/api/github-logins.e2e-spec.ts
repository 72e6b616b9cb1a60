/** Logins with GitHub (docs/sign-on/github.md). */
import type { ServerResponse } from 'node:http';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { FakeGithub, GITHUB_CLIENT } from '../support/fakes/github.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { expectRefused } from '../support/single-sign-on.js';

let test: TestApp;
let github: FakeGithub;
let authenticator: Row;
let accounts = 0;

beforeAll(async () => {
  test = await boot();
  github = await FakeGithub.start();
  authenticator = await test.make.row('authenticator', {
    name: 'github',
    kind: 'github',
    configuration: { base_url: github.url, ...GITHUB_CLIENT },
  });
  const { id } = authenticator;
  const map = { authenticator: id, name: 'staff', map_type: 'allow', trigger: 'equals' };
  await test.make.row('authenticator_map', { ...map, claim: 'organizations', value: 'acme' });
});
afterAll(async () => {
  await github.close();
  await test.close();
});

const account = (organizations = ['acme'], teams: string[] = []): string => {
  const login = `octocat-${(accounts += 1)}`;
  github.account({ id: accounts, login, name: 'Ada King Lovelace' }, organizations, teams);
  return login;
};

const logIn = async (browser = new CookieBrowser()): Promise<Response> => {
  const { url } = await browser.follow(`${test.url}/sso/login/github/`, '/sso/callback/');
  return browser.visit(url);
};

const userOf = async (username: string): Promise<Record<string, unknown> | undefined> =>
  (await test.as.superuser.get(`users/?username=${username}`).expect(200)).body.results[0];

it('the user is found by the numeric id, and unverified email addresses are ignored', async () => {
  const login = account();
  expect((await logIn()).status).toBe(302);
  const user = await userOf(login);
  expect(user).toMatchObject({ first_name: 'Ada', last_name: 'King Lovelace', email: '' });
  github.api['/user'] = { id: accounts, login: 'renamed' };
  expect((await logIn()).status).toBe(302);
  expect(await userOf('renamed')).toBeUndefined();
  const rows = await test.database.rows(sql`
    SELECT subject FROM external_identities WHERE user_id = ${Number(user?.id)}`);
  expect(rows).toEqual([{ subject: String(accounts) }]);
});

it('teams grant roles, also on later pages', async () => {
  const { home, make } = test;
  await make.row('authenticator_map', {
    ...{ authenticator: authenticator.id, name: 'ops', map_type: 'team', team: home.team.id },
    ...{ role: 'member_role', trigger: 'equals', claim: 'teams', value: 'acme/team-24' },
  });
  const teams = Array.from({ length: 25 }, (_, index) => `acme/team-${index}`);
  const login = account(['acme'], teams);
  await logIn();
  const { id } = (await userOf(login)) ?? {};
  const roles = await test.as.superuser.get(`users/${String(id)}/roles/`).expect(200);
  expect(roles.body.results.map(({ name }: { name: string }) => name)).toEqual(['Member']);
});

it('an allow map is required, because GitHub accounts are public', async () => {
  account(['evil']);
  await expectRefused(await logIn(), 'No map allows the login');
  const url = `authenticators/${authenticator.id}/maps/`;
  const { body } = await test.as.superuser.get(`${url}?name=staff`).expect(200);
  await test.as.superuser.delete(`authenticator_maps/${body.results[0].id}/`).expect(204);
  const { body: trial } = await test.as.superuser
    .post(`authenticators/${authenticator.id}/test/`, { claims: { organizations: ['acme'] } })
    .expect(200);
  expect(trial.refusal).toBe('No map allows the login.');
  await test.as.superuser
    .post(url, {
      name: 'staff',
      map_type: 'allow',
      trigger: 'equals',
      claim: 'organizations',
      value: 'acme',
    })
    .expect(201);
});

it('the login uses PKCE, and refuses a code that is used again', async () => {
  account();
  const browser = new CookieBrowser();
  const { url } = await browser.follow(`${test.url}/sso/login/github/`, '/sso/callback/');
  const cookies = new Map(browser.jarOf(test.url));
  await browser.visit(url);
  expect(github.exchanges.at(-1)?.get('code_verifier')).toMatch(/^[\w-]{43,}$/);
  for (const [name, value] of cookies) browser.jarOf(test.url).set(name, value);
  await expectRefused(await browser.visit(url), 'bad_verification_code');
});

const huge = (response: ServerResponse): unknown =>
  response.writeHead(200).end(JSON.stringify([{ login: 'x'.repeat(70_000) }]));

it.each([
  ['no id', '/user', { login: 'a' }],
  ['an id that is a text', '/user', { id: '7', login: 'a' }],
  ['an id that is not an integer', '/user', { id: 1.5, login: 'a' }],
  ['a list that is an object', '/user/orgs', { login: 'acme' }],
  ['a list that never ends', '/user/teams', Array.from({ length: 301 }, () => ({ slug: 'a' }))],
  ['a response that is too large', '/user/orgs', huge],
  ['no JSON', '/user', (response: ServerResponse) => response.writeHead(200).end('<html>')],
  [
    'a redirect to another place',
    '/user',
    (response: ServerResponse) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/user' }).end(),
  ],
  ['an error', '/user/emails', (response: ServerResponse) => response.writeHead(500).end()],
])('a login returns 503 for an API with %s', async (_name, path, value) => {
  account();
  github.api[path] = value;
  await expectRefused(await logIn(), 'The identity provider github failed', 503);
});

it('an invalid user name is refused', async () => {
  github.account({ id: 4711, login: 'a b' }, ['acme']);
  await expectRefused(await logIn(), 'a b cannot be a username');
});

it('the test reports whether the API responds', async () => {
  account();
  const url = `authenticators/${authenticator.id}/test/`;
  const { body } = await test.as.superuser.post(url, {}).expect(200);
  expect(body).toEqual({ issuer: `${github.url}/login/oauth` });
  github.api['/meta'] = (response: ServerResponse) => response.writeHead(404).end();
  await test.as.superuser.post(url, {}).expect(400);
});

it.each([
  ['a path', { base_url: 'https://github.com/acme' }, 'base_url'],
  ['http', { base_url: 'http://github.com' }, 'base_url'],
  ['an empty address', { base_url: '' }, 'base_url'],
  ['no secret', { client_secret: '' }, 'client_secret'],
])('the authenticator is refused with %s', async (_name, changes, key) => {
  const configuration = { base_url: github.url, ...GITHUB_CLIENT, ...changes };
  const body = { name: 'refused', kind: 'github', configuration };
  const { body: errors } = await test.as.superuser.post('authenticators/', body).expect(400);
  expect(Object.keys(errors.configuration)).toEqual([key]);
});

it('the address of an authenticator is that of github.com by default', async () => {
  const body = { name: 'default', kind: 'github', configuration: GITHUB_CLIENT };
  const { body: created } = await test.as.superuser.post('authenticators/', body).expect(201);
  expect(created.configuration.base_url).toBe('https://github.com');
});
