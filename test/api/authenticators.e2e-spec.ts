/** Authenticators and their maps (docs/contract/resources.md#authenticators). */
import { Logger } from '@nestjs/common';

import { SessionsService } from '../../src/auth/sessions.service.js';
import { csrfTokenOf } from '../../src/common/http/csrf.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { CLIENT, IdentityProvider } from '../support/fakes/identity-provider.js';

let test: TestApp;
let provider: IdentityProvider;
let authenticator: Row;
beforeAll(async () => {
  test = await boot();
  provider = await IdentityProvider.start([]);
  authenticator = await createAuthenticator('idp');
});
afterAll(async () => {
  await provider.close();
  await test.close();
});

const configuration = (changes: object = {}): object => ({
  issuer: provider.issuer,
  ...CLIENT,
  ...changes,
});

async function createAuthenticator(name: string, fields: object = {}): Promise<Row> {
  return test.make.row('authenticator', { name, configuration: configuration(), ...fields });
}

describe('authenticators', () => {
  it('are managed by superusers and read by auditors', async () => {
    const { as } = test;
    await as.auditor.get('authenticators/').expect(200);
    await as.auditor.get(`authenticators/${authenticator.id}/maps/`).expect(200);
    for (const path of ['authenticators/', 'authenticator_maps/']) {
      await as.orgAdmin.get(path).expect(403);
      await as.orgAdmin.post(path, {}).expect(400);
    }
    await as.orgAdmin.get(`authenticators/${authenticator.id}/`).expect(403);
    await as.auditor.patch(`authenticators/${authenticator.id}/`, { enabled: false }).expect(403);
  });

  it('have a slug of their name, which does not change', async () => {
    const { as } = test;
    const body = { name: 'Große Müller & Co', configuration: configuration() };
    const made = await as.superuser.post('authenticators/', body).expect(201);
    expect(made.body.slug).toBe('gro-e-muller-co');
    expect(made.body.callback_url).toBe('/sso/callback/gro-e-muller-co/');
    const url = `authenticators/${made.body.id}/`;
    await as.superuser.patch(url, { name: 'New', slug: 'new' }).expect(200);
    const { body: now } = await as.superuser.get('authenticators/gro-e-muller-co/').expect(200);
    expect(now.name).toBe('New');
    await as.superuser.delete(url).expect(204);
  });

  it.each([
    ['no issuer', { issuer: '' }, 'issuer'],
    ['an http issuer elsewhere', { issuer: 'http://example.com' }, 'issuer'],
    ['a password in the issuer', { issuer: 'https://a:b@example.com' }, 'issuer'],
    ['scopes without openid', { scopes: 'profile' }, 'scopes'],
    ['an unknown key', { isuer: 'x' }, 'isuer'],
    ['another method', { token_auth_method: 'none' }, 'token_auth_method'],
  ])('are refused with %s', async (_name, changes, key) => {
    const body = { name: 'refused', configuration: configuration(changes) };
    const { body: errors } = await test.as.superuser.post('authenticators/', body).expect(400);
    expect(Object.keys(errors.configuration)).toEqual([key]);
  });

  it.each([
    ['a role without object', { map_type: 'team', role: 'member_role' }, ['team']],
    ['an unknown role', { map_type: 'superuser', role: 'member_role' }, ['role']],
    ['no role', { map_type: 'organization', organization: 1 }, ['role']],
    ['an object of another type', { map_type: 'allow', organization: 1 }, ['organization']],
    ['a trigger without claim', { map_type: 'deny', trigger: 'in' }, ['claim', 'value']],
    ['a claim that is not read', { map_type: 'allow', claim: 'hd', value: 'a.org' }, ['trigger']],
  ])('refuse a map with %s', async (_name, fields, names) => {
    const body = { name: 'refused', ...fields };
    const url = `authenticators/${authenticator.id}/maps/`;
    const { body: errors } = await test.as.superuser.post(url, body).expect(400);
    expect(Object.keys(errors).toSorted()).toEqual(names);
  });

  it('have a form with the keys of the configuration, and appear in the navigation', async () => {
    const pages = test.as.superuser.with({ accept: 'text/html' });
    const { text: first } = await pages.get('authenticators/?_form=post').expect(200);
    expect(first).toContain('_with.kind=ldap');
    expect(first).not.toContain('name="configuration.');
    const { text: ldap } = await pages
      .get('authenticators/?_form=post&_with.kind=ldap')
      .expect(200);
    expect(ldap).toMatch(/<textarea[^>]*name="configuration.servers"/);
    expect(ldap).not.toContain('name="configuration.issuer"');
    const { text } = await pages.get('authenticators/?_form=post&_with.kind=oidc').expect(200);
    expect(text).toContain('name="configuration.issuer"');
    expect(text).toMatch(/<input(?=[^>]*name="configuration.client_secret")[^>]*type="password"/);
    const { text: form } = await pages
      .get(`authenticators/${authenticator.id}/?_form=patch`)
      .expect(200);
    expect(form).toContain(`value="${provider.issuer}"`);
    expect(form).toMatch(/<a\s+href="\/api\/v2\/authenticators\/"/);
    const { text: other } = await test.as.orgAdmin.with({ accept: 'text/html' }).get('teams/');
    expect(other).not.toMatch(/<a\s+href="\/api\/v2\/authenticators\/"/);
  });

  it('are created and changed with the form of their type', async () => {
    const { app, as, url } = test;
    const { body: me } = await as.superuser.get('me/').expect(200);
    const session = await app.get(SessionsService, { strict: false }).start(me.results[0].id);
    const token = csrfTokenOf(session);
    const cookie = `controller_session=${session}; csrftoken=${token}`;
    const send = (path: string, fields: Record<string, string>): Promise<Response> =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, accept: 'text/html', origin: url },
        body: new URLSearchParams({ csrfmiddlewaretoken: token, ...fields }),
      });
    const keys = {
      'configuration.servers': 'ldaps://a\r\nldaps://b',
      'configuration.user_base': 'x',
    };
    const fields = { name: 'Form', kind: 'ldap', 'configuration.user_filter': '(cn={username})' };
    const made = await send('/api/v2/authenticators/', { ...fields, ...keys });
    expect(made.status).toBe(303);
    const path = made.headers.get('location') ?? '';
    const changed = { ...fields, ...keys, _method: 'PATCH', 'configuration.user_scope': 'one' };
    expect((await send(path, changed)).status).toBe(303);
    const { body } = await as.superuser.get('authenticators/form/').expect(200);
    expect(body).toMatchObject({ kind: 'ldap', callback_url: '' });
    expect(body.configuration).toMatchObject({ user_filter: '(cn={username})', user_scope: 'one' });
    const refused = await as.superuser.patch('authenticators/form/', { kind: 'oidc' }).expect(400);
    expect(refused.body.kind).toEqual(['The kind cannot be changed.']);
    await as.superuser.patch('authenticators/form/', { kind: '' }).expect(400);
    await as.superuser.delete('authenticators/form/').expect(204);
  });

  it('report whether their provider responds', async () => {
    const { as } = test;
    const url = `authenticators/${authenticator.id}/test/`;
    const { body } = await as.superuser.post(url, {}).expect(200);
    expect(body).toEqual({ issuer: provider.issuer });
    const down = configuration({ issuer: 'http://127.0.0.1:1' });
    const { id } = await createAuthenticator('down', { configuration: down });
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const failed = await as.superuser.post(`authenticators/${id}/test/`, {}).expect(400);
    expect(warn.mock.calls).toEqual([[expect.objectContaining({ message: 'test failed' })]]);
    warn.mockRestore();
    expect(failed.body.detail).toContain('The identity provider down failed');
  });
});
