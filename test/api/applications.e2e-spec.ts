import { createHash, randomBytes } from 'node:crypto';

import * as openid from 'openid-client';
import supertest from 'supertest';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';

const PASSWORD = 'a long enough password';
const CALLBACK = 'https://client.example.org/cb';
const OTHER = 'https://client.example.org/other';
let test: TestApp;
let agent: ReturnType<typeof supertest.agent>;
let csrf: string;
let organization: Row;

beforeAll(async () => {
  test = await boot({
    settings: { OAUTH2_PASSWORD_GRANT: '1', PASSWORD_CHANGE_ENDS_TOKENS: '1', LOGIN_RATE: '1000' },
  });
  organization = await test.make.organization({ name: 'Clients' });
  await test.make.user({ username: 'ada', password: PASSWORD });
  agent = supertest.agent(test.url);
  await agent.get('/api/login/').expect(200);
  const login = await agent
    .post('/api/login/')
    .type('form')
    .send({ username: 'ada', password: PASSWORD, csrfmiddlewaretoken: cookie('csrftoken') })
    .expect(302);
  csrf = /csrftoken=([^;]+)/.exec(String(login.headers['set-cookie']))?.[1] ?? '';
});
afterAll(() => test.close());

const cookie = (name: string): string =>
  agent.jar.getCookie(name, { path: '/', domain: '127.0.0.1', secure: false, script: false })
    ?.value ?? '';

const application = async (body: object = {}): Promise<Row> => {
  const { body: made } = await test.as.superuser
    .post('applications/', {
      name: randomBytes(8).toString('hex'),
      organization: organization.id,
      client_type: 'public',
      authorization_grant_type: 'authorization-code',
      redirect_uris: `${CALLBACK} ${OTHER}`,
      ...body,
    })
    .expect(201);
  return made as Row;
};

const VERIFIER = 'v'.repeat(50);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const request = (app: Row, more: object = {}): Record<string, string> => ({
  client_id: String(app.client_id),
  redirect_uri: CALLBACK,
  response_type: 'code',
  state: 'xyz',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  ...more,
});

/** Presses a button of the consent page. Resolves to the parameters of the redirect. */
async function decide(parameters: object, allow = true): Promise<URLSearchParams> {
  const { headers } = await agent
    .post('/api/o/authorize/')
    .type('form')
    .send({ ...parameters, decision: allow ? 'allow' : 'deny', csrfmiddlewaretoken: csrf })
    .expect(302);
  const location = new URL(String(headers.location));
  expect(location.origin + location.pathname).toBe(CALLBACK);
  return location.searchParams;
}

const token = (body: object): supertest.Test =>
  supertest(test.url).post('/api/o/token/').type('form').send(body);
const exchange = (app: Row, code: string | null, more: object = {}): supertest.Test =>
  token({
    grant_type: 'authorization_code',
    client_id: app.client_id,
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...more,
  });
const bearer = (text: unknown): ApiClient =>
  new ApiClient(test.url, { Authorization: `Bearer ${String(text)}` });

/** Tokens of a new grant of an application. */
async function granted(app: Row, scope = 'write'): Promise<Row> {
  const code = (await decide(request(app, { scope }))).get('code');
  return (await exchange(app, code).expect(200)).body as Row;
}

it('openid-client can get, use, refresh and revoke tokens', async () => {
  const app = await application({ client_type: 'confidential' });
  const server = {
    issuer: test.url,
    authorization_endpoint: `${test.url}/api/o/authorize/`,
    token_endpoint: `${test.url}/api/o/token/`,
    revocation_endpoint: `${test.url}/api/o/revoke_token/`,
  };
  const secret = String(app.client_secret);
  const config = new openid.Configuration(server, String(app.client_id), secret);
  openid.allowInsecureRequests(config);
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'read',
    state: 'abc',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const page = await agent
    .get(url.pathname + url.search)
    .accept('html')
    .expect(200);
  expect(page.headers['content-security-policy']).toContain(
    "form-action 'self' https://client.example.org;",
  );
  expect(page.text).toContain('Read everything that you can read.');
  const parameters = await decide(Object.fromEntries(url.searchParams));
  const tokens = await openid.authorizationCodeGrant(
    config,
    new URL(`${CALLBACK}?${parameters.toString()}`),
    { pkceCodeVerifier: verifier, expectedState: 'abc' },
  );
  expect(tokens).toMatchObject({
    token_type: 'bearer',
    scope: 'read',
    expires_in: expect.any(Number),
  });
  const { body: me } = await bearer(tokens.access_token).get('me/').expect(200);
  expect(me.results[0].username).toBe('ada');
  await bearer(tokens.access_token).post('tokens/', {}).expect(403);
  const { body: list } = await test.as.superuser.get(`applications/${app.id}/tokens/`).expect(200);
  expect(list.results).toEqual([
    expect.objectContaining({
      application: app.id,
      token: '************',
      refresh_token: '************',
      summary_fields: expect.objectContaining({ application: { id: app.id, name: app.name } }),
    }),
  ]);

  const { body: shown } = await test.as.superuser.get(`applications/${app.id}/`).expect(200);
  expect(shown.summary_fields.tokens).toEqual({
    count: 1,
    results: [{ id: list.results[0].id, scope: 'read', token: '************' }],
  });
  const next = await openid.refreshTokenGrant(config, String(tokens.refresh_token));
  await bearer(tokens.access_token).get('me/').expect(401);
  await bearer(next.access_token).get('me/').expect(200);
  await openid.tokenRevocation(config, String(next.refresh_token));
  await bearer(next.access_token).get('me/').expect(401);
  await expect(openid.refreshTokenGrant(config, String(next.refresh_token))).rejects.toMatchObject({
    error: 'invalid_grant',
  });
});

describe('an application', () => {
  it('shows the secret of a confidential client once, and has no secret for a public client', async () => {
    const made = await application({ client_type: 'confidential' });
    expect(made.client_secret).toMatch(/^acs_\w{43}$/);
    const { body: again } = await test.as.superuser.get(`applications/${made.id}/`).expect(200);
    expect(again.client_secret).toBe('************');
    const rows = await test.database.rows<{ row: string }>(
      sql`SELECT app::text AS row FROM applications app WHERE id = ${made.id}`,
    );
    expect(rows[0]?.row).not.toContain(String(made.client_secret));
    expect(await application()).not.toHaveProperty('client_secret');
  });

  it.each([
    [{ redirect_uris: '' }, { __all__: expect.anything() }],
    [{ redirect_uris: 'javascript:alert(1)' }, { redirect_uris: expect.anything() }],
    [{ redirect_uris: `${CALLBACK}#x` }, { redirect_uris: expect.anything() }],
    [{ redirect_uris: '/relative' }, { redirect_uris: expect.anything() }],
    [{ authorization_grant_type: 'implicit' }, { authorization_grant_type: expect.anything() }],
  ])('is refused with %j', async (more, errors) => {
    const body = {
      ...{ name: 'refused', organization: organization.id, client_type: 'public' },
      ...{ authorization_grant_type: 'authorization-code', redirect_uris: CALLBACK, ...more },
    };
    const { body: refusal } = await test.as.superuser.post('applications/', body).expect(400);
    expect(refusal).toEqual(errors);
  });

  it('is created by administrators of its organization', async () => {
    const { id } = test.home.organization;
    const path = `organizations/${id}/applications/`;
    const app = {
      name: 'of Home',
      client_type: 'confidential',
      authorization_grant_type: 'password',
    };
    await test.as.orgMember.post(path, app).expect(403);
    await test.as.outsider.post(path, app).expect(403);
    const { body } = await test.as.orgAdmin.post(path, app).expect(201);
    expect(body).toMatchObject({ organization: id, client_secret: expect.stringMatching(/^acs/) });
    const other = { ...app, name: 'elsewhere', organization: organization.id };
    const { body: kept } = await test.as.superuser.post(path, other).expect(201);
    expect(kept.organization).toBe(id);
    expect((await test.as.orgAdmin.get(path).expect(200)).body.count).toBe(2);
    const options = await test.as.orgAdmin.options(path).expect(200);
    expect(Object.keys(options.body.actions)).toEqual(['GET', 'POST']);
  });

  it('skips the consent only if a superuser configured this', async () => {
    const admin = await test.make.user({ username: 'clients-admin' });
    await test.as.superuser
      .post(`organizations/${organization.id}/admins/`, { id: admin.id })
      .expect(204);
    const app = await application();
    const client = await test.as.asUser(admin);
    const skip = { skip_authorization: true };
    await client.patch(`applications/${app.id}/`, skip).expect(403);
    await client.patch(`applications/${app.id}/`, { description: 'mine' }).expect(200);
    await test.as.superuser.patch(`applications/${app.id}/`, skip).expect(200);
    const { headers } = await agent.get('/api/o/authorize/').query(request(app)).expect(302);
    expect(headers.location).toMatch(/code=/);
  });

  it('is deleted with its tokens', async () => {
    const app = await application();
    const { access_token: access, refresh_token: refresh } = await granted(app);
    await test.as.superuser.delete(`applications/${app.id}/`).expect(204);
    await bearer(access).get('me/').expect(401);
    const again = { grant_type: 'refresh_token', client_id: app.client_id, refresh_token: refresh };
    expect((await token(again).expect(401)).body.error).toBe('invalid_client');
  });
});

describe('authorization', () => {
  it.each([
    ['another redirect URI', { redirect_uri: `${CALLBACK}/more` }],
    ['an unknown client', { client_id: 'unknown' }],
  ])('does not redirect to the client for %s', async (_case, wrong) => {
    const parameters = request(await application(), wrong);
    await agent.get('/api/o/authorize/').query(parameters).expect(400);
    const sent = { ...parameters, decision: 'allow', csrfmiddlewaretoken: csrf };
    const answer = await agent.post('/api/o/authorize/').type('form').send(sent).expect(400);
    expect(answer.headers).not.toHaveProperty('location');
  });

  it.each([
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ])('redirects to the client with an error for %s', async (_case, wrong, error) => {
    const parameters = await decide(request(await application(), wrong));
    expect(parameters.get('error')).toBe(error);
    expect(parameters.get('state')).toBe('xyz');
    expect(parameters.has('code')).toBe(false);
  });

  it('redirects to the client with an error if the user refuses', async () => {
    const parameters = await decide(request(await application()), false);
    expect(Object.fromEntries(parameters)).toMatchObject({ error: 'access_denied', state: 'xyz' });
  });

  it('requires a session and its CSRF token', async () => {
    const parameters = { ...request(await application()), decision: 'allow' };
    const post = (): supertest.Test =>
      agent.post('/api/o/authorize/').type('form').send(parameters);
    await post().expect(403);
    await supertest(test.url).get('/api/o/authorize/').query(parameters).expect(401);
    const { body } = await test.as.superuser.post('tokens/', {}).expect(201);
    await post()
      .set({ Cookie: '', Authorization: `Bearer ${String(body.token)}` })
      .expect(403);
  });
});

describe('the token endpoint', () => {
  it('accepts a code once, and revokes the grant if the code is sent again', async () => {
    const app = await application();
    const code = (await decide(request(app))).get('code');
    const { body } = await exchange(app, code).expect(200);
    expect((await exchange(app, code).expect(400)).body.error).toBe('invalid_grant');
    await bearer(body.access_token).get('me/').expect(401);
  });

  it('revokes the grant if a refresh token is sent twice', async () => {
    const app = await application();
    const first = await granted(app);
    const refresh = (text: unknown): supertest.Test =>
      token({ grant_type: 'refresh_token', client_id: app.client_id, refresh_token: text });
    const { body: second } = await refresh(first.refresh_token).expect(200);
    expect((await refresh(first.refresh_token).expect(400)).body.error).toBe('invalid_grant');
    await bearer(second.access_token).get('me/').expect(401);
    await refresh(second.refresh_token).expect(400);
  });

  it.each([
    ['a wrong verifier', { code_verifier: 'w'.repeat(50) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: OTHER }, 'invalid_request'],
    ['no redirect URI', { redirect_uri: '' }, 'invalid_request'],
    ['an absent code', { code: '' }, 'invalid_request'],
  ])('refuses %s', async (_case, wrong, error) => {
    const app = await application();
    const code = (await decide(request(app))).get('code');
    expect((await exchange(app, code, wrong).expect(400)).body.error).toBe(error);
  });

  it('needs no redirect URI if the authorization request had none', async () => {
    const app = await application({ redirect_uris: CALLBACK });
    const code = (await decide(request(app, { redirect_uri: undefined }))).get('code');
    await exchange(app, code, { redirect_uri: undefined }).expect(200);
  });

  it('refuses the code of another client, and an expired one', async () => {
    const [app, other] = [await application(), await application()];
    const code = (await decide(request(app))).get('code');
    expect((await exchange(other, code).expect(400)).body.error).toBe('invalid_grant');
    await test.database.execute(sql`UPDATE authorization_codes SET expires = now()`);
    expect((await exchange(app, code).expect(400)).body.error).toBe('invalid_grant');
  });

  it('refuses a confidential client without its secret', async () => {
    const app = await application({ client_type: 'confidential' });
    const code = (await decide(request(app))).get('code');
    for (const secret of [undefined, 'wrong']) {
      const { body } = await exchange(app, code, { client_secret: secret }).expect(401);
      expect(body.error).toBe('invalid_client');
    }
    await exchange(app, code, { client_secret: app.client_secret }).expect(200);
  });

  it('accepts no earlier grants after the password of the user changed', async () => {
    const app = await application();
    const { body: user } = await test.as.superuser
      .post('users/', { username: 'changing', password: PASSWORD })
      .expect(201);
    await test.as.superuser
      .post(`organizations/${organization.id}/users/`, { id: user.id })
      .expect(204);
    const client = await test.as.asUser(user as Row);
    const { body: pair } = await client.post('tokens/', { application: app.id }).expect(201);
    await bearer(pair.token).post('tokens/', {}).expect(403);
    await client.patch(`users/${user.id}/`, { password: `${PASSWORD} 2` }).expect(200);
    await bearer(pair.token).get('me/').expect(401);
    const again = { client_id: app.client_id, refresh_token: pair.refresh_token };
    await token({ grant_type: 'refresh_token', ...again }).expect(400);
  });

  it('does not extend the scope of a grant', async () => {
    const app = await application();
    const { refresh_token: refresh } = await granted(app, 'read');
    const more = { grant_type: 'refresh_token', client_id: app.client_id, refresh_token: refresh };
    expect((await token({ ...more, scope: 'write' }).expect(400)).body.error).toBe('invalid_scope');
  });

  it('accepts a password if the setting and the application allow it', async () => {
    const app = await application({
      ...{ authorization_grant_type: 'password', client_type: 'confidential', redirect_uris: '' },
    });
    const ask = (password: string): supertest.Test =>
      token({ grant_type: 'password', username: 'ada', password }).auth(
        String(app.client_id),
        String(app.client_secret),
      );
    const { body } = await ask(PASSWORD).expect(200);
    await bearer(body.access_token).get('me/').expect(200);
    expect((await ask('wrong').expect(400)).body.error).toBe('invalid_grant');
    const second = (value: boolean): Promise<unknown> =>
      test.database.execute(sql`
        UPDATE users SET has_second_factor = ${value} WHERE username = 'ada'`);
    await second(true);
    expect((await ask(PASSWORD).expect(400)).body.error).toBe('invalid_grant');
    await second(false);
    const others = await application();
    const { body: refusal } = await token({
      ...{ grant_type: 'password', username: 'ada', password: PASSWORD },
      client_id: others.client_id,
    }).expect(400);
    expect(refusal.error).toBe('unauthorized_client');
  });
});

it('users can create tokens for applications that they can read', async () => {
  const app = await application();
  const { body } = await test.as.superuser
    .post('tokens/', { application: app.id, scope: 'read' })
    .expect(201);
  const refresh_token = expect.stringMatching(/^acr_/);
  expect(body).toMatchObject({ application: app.id, refresh_token });
  await test.as.superuser.delete(`tokens/${body.id}/`).expect(204);
  const again = { client_id: app.client_id, refresh_token: body.refresh_token };
  await token({ grant_type: 'refresh_token', ...again }).expect(400);
  const { body: refused } = await test.as.superuser
    .post('tokens/', { application: 9_999_999 })
    .expect(400);
  expect(refused).toEqual({ application: ['Invalid pk "9999999" - object does not exist.'] });
});
