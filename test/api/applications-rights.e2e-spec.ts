/** Rights that applications and their administrators cannot take from users (docs/applications.md). */
import type { Test } from 'supertest';

import { AuthorizationServer } from '../../src/applications/authorization-server.service.js';
import { TokensService } from '../../src/auth/tokens.service.js';
import { tokenDigest } from '../../src/common/crypto/tokens.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { UsersRepository } from '../../src/users/users.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { CookieBrowser } from '../support/fakes/identity-provider.js';
import { endedOrWaiting } from '../support/interleave.js';

const PASSWORD = 'a long enough password';
const CALLBACK = 'https://client.example.org/cb';

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { OAUTH2_PASSWORD_GRANT: '1' } });
});
afterAll(() => test.close());

const at = (path: string): string => `${test.url}${path}`;

let made = 0;
async function application(more: object = {}): Promise<Row> {
  made += 1;
  const { body } = await test.as.superuser
    .post('applications/', {
      ...{ name: `Client ${made}`, organization: test.home.organization.id },
      ...{ client_type: 'confidential', authorization_grant_type: 'authorization-code' },
      ...{ redirect_uris: CALLBACK, ...more },
    })
    .expect(201);
  return body as Row;
}

it('a link to the consent page cannot consent when the user cancels', async () => {
  const { username } = await test.make.user({ password: PASSWORD });
  const browser = new CookieBrowser();
  await browser.visit(at('/api/login/'));
  await browser.send(at('/api/login/'), { username: String(username), password: PASSWORD });
  const parameters = {
    client_id: String((await application()).client_id),
    ...{ redirect_uri: CALLBACK, response_type: 'code', scope: 'read', state: 'xyz' },
    ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
  };
  const decision = { allow: '1', decision: 'allow', allowed: 'true', _method: 'GET' };
  const query = new URLSearchParams({ ...parameters, ...decision });
  const page = await (await browser.visit(at(`/api/o/authorize/?${String(query)}`))).text();
  const [form = ''] =
    /<form method="post" action="\/api\/o\/authorize\/"[^]*?<\/form>/.exec(page) ?? [];
  const hidden = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']): [string, string] => [name, value])
    .filter(([name]) => name !== 'csrfmiddlewaretoken');
  expect(Object.fromEntries(hidden)).toEqual(parameters);
  const [, name = '', value = ''] = /<button name="(\w+)" value="(\w+)">Cancel</.exec(form) ?? [];
  const sent = { ...Object.fromEntries(hidden), [name]: value };
  const { headers } = await browser.send(at('/api/o/authorize/'), sent);
  expect(headers.get('location')).toContain('error=access_denied');
});

describe('an application that skips the consent', () => {
  const path = ({ id }: Row): string => `applications/${id}/`;

  it.each([
    ['redirect_uris', { redirect_uris: `${CALLBACK} https://evil.example.org/cb` }],
    ['client_type', { client_type: 'public' }],
  ])('keeps its %s for administrators of the organization', async (field, change) => {
    const app = await application({ skip_authorization: true });
    const { body } = await test.as.orgAdmin.patch(path(app), change).expect(403);
    expect(body.detail).toBe(
      `Only superusers can change ${field} of an application that skips the consent of users.`,
    );
    await test.as.superuser.patch(path(app), change).expect(200);
  });

  it('stays in its organization for administrators of both', async () => {
    const app = await application({ skip_authorization: true });
    const organization = await test.make.organization();
    await test.make.grant('organization', organization, 'admin_role', {
      user: test.as.users.orgAdmin,
    });
    const change = { organization: organization.id };
    await test.as.orgAdmin.patch(path(app), change).expect(403);
    await test.as.superuser.patch(path(app), change).expect(200);
  });

  it('can be changed otherwise, and completely once it asks for the consent', async () => {
    const app = await application({ skip_authorization: true });
    const { body: shown } = await test.as.orgAdmin.get(path(app)).expect(200);
    await test.as.orgAdmin.put(path(app), { ...shown, description: 'Portal' }).expect(200);
    const change = { redirect_uris: 'https://other.example.org/cb', skip_authorization: false };
    const { body } = await test.as.orgAdmin.patch(path(app), change).expect(200);
    expect(body).toMatchObject({ ...change, description: 'Portal' });
  });
});

it('the revocation of a grant ends the tokens of a refresh in progress', async () => {
  const { id, client_id } = await application({ client_type: 'public' });
  const { body: pair } = await test.as.superuser.post('tokens/', { application: id }).expect(201);
  const tokens = test.app.get(TokensService, { strict: false });
  const add = tokens.addPair.bind(tokens);
  const { anonymous } = test.as;
  let revocation: Promise<unknown> = Promise.resolve();
  jest.spyOn(tokens, 'addPair').mockImplementationOnce(async (...values) => {
    const sent = { client_id, token: pair.refresh_token };
    revocation = Promise.resolve(anonymous.post('/api/o/revoke_token/', sent).expect(200));
    await endedOrWaiting(test.database, revocation);
    return add(...values);
  });
  const refresh = { grant_type: 'refresh_token', client_id };
  const { body: next } = await anonymous
    .post('/api/o/token/', { ...refresh, refresh_token: pair.refresh_token })
    .expect(200);
  await revocation;
  const authorization = `Bearer ${String(next.access_token)}`;
  await anonymous.with({ authorization }).get('me/').expect(401);
  const { body: ended } = await test.as.superuser
    .get('activity_stream/?object1=o_auth2_access_token&operation=delete')
    .expect(200);
  const deleted = (ended.results as Row[]).map(({ changes }) => (changes as Row).id);
  expect(deleted.filter((token) => token === pair.id)).toHaveLength(1);
  const again = { ...refresh, refresh_token: next.refresh_token };
  await anonymous.post('/api/o/token/', again).expect(400);
});

/** Issues a code to an application. Returns the request of its tokens. */
async function codeRequest({ id, client_id }: Row, user: number): Promise<object> {
  const client_secret = 'a secret';
  await test.database.execute(sql`
    UPDATE applications SET secret_digest = ${tokenDigest(client_secret)} WHERE id = ${id}`);
  const server = test.app.get(AuthorizationServer, { strict: false });
  const request = { client_id: String(client_id), response_type: 'code', redirect_uri: CALLBACK };
  const { searchParams } = new URL(await server.authorize(request, user, true));
  return {
    ...{ grant_type: 'authorization_code', client_id, client_secret, redirect_uri: CALLBACK },
    code: searchParams.get('code'),
  };
}

it.each([
  ['code', async (app: Row) => codeRequest(app, test.as.users.orgMember.id)],
  [
    'refresh token',
    async ({ id, client_id }: Row) => {
      const { body } = await test.as.superuser.post('tokens/', { application: id }).expect(201);
      return { grant_type: 'refresh_token', client_id, refresh_token: body.refresh_token };
    },
  ],
])('a %s that is sent twice at the same time gives no tokens', async (kind, requestOf) => {
  const client_type = kind === 'code' ? 'confidential' : 'public';
  const sent = await requestOf(await application({ client_type }));
  const exchange = (): Test => test.as.anonymous.post('/api/o/token/', sent);
  const tokens = test.app.get(TokensService, { strict: false });
  const add = tokens.addPair.bind(tokens);
  let second: Promise<{ status: number }> = Promise.resolve({ status: 0 });
  jest.spyOn(tokens, 'addPair').mockImplementationOnce(async (...values) => {
    second = Promise.resolve(exchange());
    await endedOrWaiting(test.database, second);
    return add(...values);
  });
  const { body } = await exchange();
  expect((await second).status).toBe(400);
  const authorization = `Bearer ${String(body.access_token)}`;
  await test.as.anonymous.with({ authorization }).get('me/').expect(401);
});

it('a code gives no tokens after the password of the user changed', async () => {
  const user = await test.make.user({ password: PASSWORD });
  const sent = await codeRequest(await application(), user.id);
  await test.as.superuser.patch(`users/${user.id}/`, { password: `${PASSWORD} 2` }).expect(200);
  const { body } = await test.as.anonymous.post('/api/o/token/', sent).expect(400);
  expect(body.error).toBe('invalid_grant');
});

it('a code that is sent again after a new password ends the tokens of its first exchange', async () => {
  const user = await test.make.user({ password: PASSWORD });
  const sent = await codeRequest(await application(), user.id);
  const { body } = await test.as.anonymous.post('/api/o/token/', sent).expect(200);
  const app = test.as.anonymous.with({ Authorization: `Bearer ${body.access_token}` });
  await test.as.superuser.patch(`users/${user.id}/`, { password: `${PASSWORD} 2` }).expect(200);
  await app.get('me/').expect(200);
  await test.as.anonymous.post('/api/o/token/', sent).expect(400);
  await app.get('me/').expect(401);
});

it('a new password ends a password grant in progress', async () => {
  const app = await application({ authorization_grant_type: 'password', redirect_uris: '' });
  const { id, username } = await test.make.user({ password: PASSWORD });
  const users = test.app.get(UsersRepository, { strict: false });
  const lock = users.lockAccount.bind(users);
  jest.spyOn(users, 'lockAccount').mockImplementationOnce(async (user) => {
    await test.as.superuser.patch(`users/${id}/`, { password: `${PASSWORD} 2` }).expect(200);
    return lock(user);
  });
  const { client_id, client_secret } = app;
  const sent = { grant_type: 'password', username, password: PASSWORD, client_id, client_secret };
  const { body } = await test.as.anonymous.post('/api/o/token/', sent).expect(400);
  expect(body.error).toBe('invalid_grant');
});

describe('a scope that a user reduces', () => {
  /** Creates tokens for an application, and returns their id and the request of the next ones. */
  async function granted(): Promise<[id: number, refresh: object]> {
    const { id, client_id } = await application({ client_type: 'public' });
    const { body } = await test.as.superuser.post('tokens/', { application: id }).expect(201);
    const { refresh_token } = body;
    return [body.id, { grant_type: 'refresh_token', client_id, refresh_token }];
  }

  const reduce = (id: number): Test =>
    test.as.superuser.patch(`tokens/${id}/`, { scope: 'read' }).expect(200);

  it('also applies to the next tokens of the application', async () => {
    const [id, refresh] = await granted();
    await reduce(id);
    const { body } = await test.as.anonymous.post('/api/o/token/', refresh).expect(200);
    expect(body.scope).toBe('read');
    const authorization = `Bearer ${String(body.access_token)}`;
    await test.as.anonymous.with({ authorization }).patch('users/1/', {}).expect(403);
  });

  it('is not restored by a refresh in progress', async () => {
    const [id, refresh] = await granted();
    const users = test.app.get(UsersRepository, { strict: false });
    const lock = users.lockAccount.bind(users);
    jest.spyOn(users, 'lockAccount').mockImplementationOnce(async (user) => {
      await reduce(id);
      return lock(user);
    });
    await test.as.anonymous.post('/api/o/token/', refresh).expect(400);
    const { body } = await test.as.anonymous.post('/api/o/token/', refresh).expect(200);
    expect(body.scope).toBe('read');
  });
});

it('the token of a grant keeps its id and description, by which users end the grant after a refresh', async () => {
  const { id, client_id } = await application({ client_type: 'public' });
  const fields = { application: id, description: 'My laptop' };
  const { body: first } = await test.as.superuser.post('tokens/', fields).expect(201);
  const refresh = (refresh_token: string): Test =>
    test.as.anonymous.post('/api/o/token/', {
      ...{ grant_type: 'refresh_token', client_id, refresh_token },
    });
  const { body: next } = await refresh(first.refresh_token).expect(200);
  const { body: shown } = await test.as.superuser.get(`tokens/${first.id}/`).expect(200);
  expect(shown.description).toBe('My laptop');
  const before = test.as.anonymous.with({ authorization: `Bearer ${first.token}` });
  const after = test.as.anonymous.with({ authorization: `Bearer ${next.access_token}` });
  await before.get('me/').expect(401);
  await after.get('me/').expect(200);
  await test.as.superuser.delete(`tokens/${first.id}/`).expect(204);
  await after.get('me/').expect(401);
  await refresh(next.refresh_token).expect(400);
});

describe('the token of an application', () => {
  const tokenOf = async (client: ApiClient, body: object = {}): Promise<ApiClient> => {
    const { body: shown } = await client.post('tokens/', body).expect(201);
    return test.as.anonymous.with({ authorization: `Bearer ${String(shown.token)}` });
  };
  const detailOf = async (request: Test): Promise<unknown> => (await request.expect(403)).body;

  it('cannot set passwords, as personal tokens can', async () => {
    const { id } = test.as.users.orgMember;
    const body = { password: `${PASSWORD} 2` };
    const { id: app } = await application();
    for (const user of [test.as.orgMember, test.as.superuser]) {
      const client = await tokenOf(user, { application: app });
      const refusal = { detail: 'An application cannot set passwords.' };
      expect(await detailOf(client.patch(`users/${id}/`, body))).toEqual(refusal);
      await client.patch(`users/${id}/`, { first_name: 'Ada', password: '' }).expect(200);
      await (await tokenOf(user)).patch(`users/${id}/`, body).expect(200);
      if (user === test.as.orgMember) continue;
      expect(await detailOf(client.post('users/', { ...body, username: 'new' }))).toEqual(refusal);
      await client.post('users/', { username: 'without' }).expect(201);
    }
  });

  it('cannot link accounts of identity providers, as personal tokens can', async () => {
    const { id: app } = await application();
    const configuration = { issuer: 'https://idp.example.com', client_id: 'a', client_secret: 'b' };
    const { id } = await test.make.row('authenticator', { name: 'idp', configuration });
    const link = { subject: 'of the application', user: test.as.users.superuser.id };
    const client = await tokenOf(test.as.superuser, { application: app });
    const request = client.post(`authenticators/${id}/identities/`, link);
    expect(await detailOf(request)).toEqual({ detail: 'An application cannot link accounts.' });
    const personal = await tokenOf(test.as.superuser);
    await personal.post(`authenticators/${id}/identities/`, link).expect(201);
  });

  it('cannot remove second factors', async () => {
    const { id } = await test.make.user({ password: PASSWORD });
    const client = await tokenOf(test.as.superuser, { application: (await application()).id });
    for (const user of [id, test.as.users.superuser.id]) {
      const request = client.post(`users/${user}/remove_second_factor/`, { password: PASSWORD });
      const refusal = { detail: 'An application cannot remove second factors.' };
      expect(await detailOf(request)).toEqual(refusal);
    }
    await test.as.superuser.post(`users/${id}/remove_second_factor/`, {}).expect(204);
  });
});
