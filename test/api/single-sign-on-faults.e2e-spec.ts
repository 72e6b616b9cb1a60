/** Logins with a broken identity provider, or with broken cookies (docs/single-sign-on.md#login). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import supertest from 'supertest';

import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let provider: Server;
let issuer: string;
let response: { status: number; metadata: object };
beforeAll(async () => {
  test = await boot();
  provider = createServer((_request, reply) => {
    reply.writeHead(response.status, { 'content-type': 'application/json' });
    reply.end(response.status === 200 ? JSON.stringify(response.metadata) : '');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await test.close();
});

const metadata = (changes: object = {}): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  ...changes,
});

let made = 0;
async function authenticator(): Promise<{ id: number; slug: string }> {
  made += 1;
  const configuration = { issuer, client_id: 'controller', client_secret: 'a secret' };
  const row = await test.make.row('authenticator', { name: `idp ${made}`, configuration });
  return { id: row.id, slug: String(row.slug) };
}

const login = (slug: string): supertest.Test => supertest(test.url).get(`/sso/login/${slug}/`);

it.each<[string, { status?: number; changes?: object }, string]>([
  ['no content', { status: 205 }, 'unexpected HTTP response status code'],
  ['an unknown status', { status: 999 }, 'The response has the status 999'],
  ['no login page', { changes: { authorization_endpoint: undefined } }, 'authorization_endpoint'],
  ['a script', { changes: { authorization_endpoint: 'javascript:1' } }, 'authorization_endpoint'],
  ['a number as an endpoint', { changes: { token_endpoint: 5 } }, 'token_endpoint'],
  ['no keys', { changes: { jwks_uri: undefined } }, 'jwks_uri'],
])('a login is refused with 503, and a test with 400, if the provider sends %s', async (...one) => {
  const [, { status = 200, changes = {} }, reason] = one;
  response = { status, metadata: metadata(changes) };
  const { id, slug } = await authenticator();
  expect((await login(slug).expect(503)).body.detail).toContain(reason);
  const { body } = await test.as.superuser.post(`authenticators/${id}/test/`, {}).expect(400);
  expect(body.detail).toContain(reason);
});

it('a login replaces pending logins, and ignores cookies that no login has set', async () => {
  response = { status: 200, metadata: metadata() };
  const { slug } = await authenticator();
  const names = ['a', 'b', 'c', 'd', 'e', '(f)'].map((state) => `controller_sso_${state}`);
  const cookie = names.map((name) => `${name}=1`).join('; ');
  const { headers } = await login(slug).set({ cookie }).expect(302);
  const removed = String(headers['set-cookie']).match(/controller_sso_[^=]+(?==;)/g);
  expect(removed).toEqual(names.slice(0, 5));
});
