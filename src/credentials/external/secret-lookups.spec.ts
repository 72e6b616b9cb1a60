import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeSecretStores } from '../../../test/support/fakes/fake-secret-stores.js';
import { HttpSink } from '../../../test/support/fakes/http-sink.js';
import { TEST_CERTIFICATE } from '../../../test/support/fakes/test-certificate.js';
import { Settings } from '../../config/settings.js';
import { OutboundClient } from '../../outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';
import type { IdentityTokens } from '../identity-tokens.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';
import { LookupError } from './lookup-error.js';
import { LookupSession } from './lookup-session.js';
import {
  SecretLookups,
  type StoreCredential,
  type SecretRequest,
} from './secret-lookups.service.js';

const ENVIRONMENT = { DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' };
const settings = Settings.load(ENVIRONMENT);

const tokens: IdentityTokens = { issue: () => Promise.reject(new Error('no token is needed')) };

let stores: FakeSecretStores;
let client: OutboundClient;
let lookups: SecretLookups;
beforeAll(async () => {
  stores = await FakeSecretStores.start();
  client = new OutboundClient({ allow: ['127.0.0.0/8'], userAgent: 'test' });
  lookups = new SecretLookups(client, settings, tokens);
  Object.assign(stores.secrets, {
    'kv/data/db/prod': { data: { user: 'app', password: 's3cret', port: 5432 }, metadata: {} },
    'kv/data/db/prod?version=3': { data: { password: 'older' } },
    'secret/plain': { password: 'v1', nested: { a: 1 } },
    'secret/wrapped': { data: { password: 'inside' } },
  });
  Object.assign(stores.accounts, {
    'Safe=Ops;Object=db': { Content: 'from the vault', UserName: 'app', Address: 'db.example' },
  });
});
afterAll(async () => {
  await client.onApplicationShutdown();
  await stores.close();
});
beforeEach(() => {
  stores.takeLines();
});

let made = 0;

function storeOf(namespace: string, inputs: CredentialInputs): StoreCredential {
  const type = managedCredentialType(namespace);
  if (!type) throw new Error(`no type ${namespace}`);
  return { id: (made += 1), type, inputs: { url: stores.url, ...inputs } };
}

const token = { token: 'root-token' };
const v2 = (inputs: CredentialInputs = token): StoreCredential =>
  storeOf('hashivault_kv', { api_version: 'v2', ...inputs });

const read = async (store: StoreCredential, location: Record<string, string>) =>
  (await lookups.fetch([{ store, location }], new LookupSession()))[0];

const db = { secret_backend: 'kv', secret_path: 'db/prod', secret_key: 'password' };

describe('HashiCorp Vault', () => {
  it.each([
    [db, 's3cret'],
    [{ secret_path: 'kv/db/prod', secret_key: 'port' }, '5432'],
    [{ ...db, secret_version: '3' }, 'older'],
  ])('returns a value of version 2: %j', async (location, value) => {
    expect(await read(v2(), location)).toBe(value);
  });

  it.each([
    [{ secret_path: '/secret/plain', secret_key: 'password' }, 'v1'],
    [{ secret_backend: 'secret', secret_path: 'plain', secret_key: 'nested' }, '{"a":1}'],
    [{ secret_path: 'secret/wrapped', secret_key: 'password' }, 'inside'],
  ])('returns a value of version 1: %j', async (location, value) => {
    expect(await read(storeOf('hashivault_kv', token), location)).toBe(value);
  });

  it.each([
    { secret_path: 'auth/token/lookup-self', secret_key: 'id' },
    { secret_path: 'auth/token/lookup', secret_key: 'id' },
    { secret_backend: 'ns/auth', secret_path: '/token//lookup-self/', secret_key: 'id' },
  ])('does not show its own token: %j', async (location) => {
    const own = { id: 'root-token' };
    Object.assign(stores.secrets, {
      'auth/token/lookup-self': own,
      'auth/token/lookup': own,
      'ns/auth/token/lookup-self': own,
    });
    const value = await read(storeOf('hashivault_kv', token), location);
    expect(value).toEqual(new LookupError('The token of the store cannot be read.'));
    expect(stores.takeLines()).toEqual([]);
  });

  it('supports login by AppRole and by password, in a namespace', async () => {
    const appRole = v2({ role_id: 'role', secret_id: 'secret-id', namespace: 'ops' });
    expect(await read(appRole, db)).toBe('s3cret');
    expect(stores.requests.map(({ headers }) => headers['x-vault-namespace'])).toEqual([
      'ops',
      'ops',
    ]);
    expect(stores.takeLines()).toEqual(['POST /v1/auth/approle/login', 'GET /v1/kv/data/db/prod']);
    const password = v2({ username: 'ann', password: 'log me in' });
    expect(await read(password, { ...db, auth_path: 'team/userpass' })).toBe('s3cret');
    expect(stores.takeLines()[0]).toBe('POST /v1/auth/team/userpass/login/ann');
  });

  it('receives one login and one read for several keys of a path', async () => {
    const store = v2({ role_id: 'role', secret_id: 'secret-id' });
    const wanted: SecretRequest[] = ['user', 'password', 'port', 'user'].map((key) => ({
      store,
      location: { ...db, secret_key: key },
    }));
    expect(await lookups.fetch(wanted, new LookupSession())).toEqual([
      'app',
      's3cret',
      '5432',
      'app',
    ]);
    expect(stores.takeLines()).toHaveLength(2);
  });

  it('supports login by the role of a pod if the settings permit it', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'pod-')), 'token');
    await writeFile(file, 'pod-identity\n');
    stores.logins.kubernetes = { role: 'workers', jwt: 'pod-identity' };
    const { host } = new URL(stores.url);
    const lookupsWith = (more: Record<string, string>) =>
      new SecretLookups(client, Settings.load({ ...ENVIRONMENT, ...more }), tokens);
    const wanted = [{ store: v2({ kubernetes_role: 'workers' }), location: db }];
    const permitted = { VAULT_KUBERNETES_AUTH_HOSTS: host, VAULT_KUBERNETES_TOKEN_FILE: file };
    expect(await lookupsWith(permitted).fetch(wanted, new LookupSession())).toEqual(['s3cret']);
    expect(stores.takeLines()[0]).toBe('POST /v1/auth/kubernetes/login');
    const refused = `A Kubernetes role cannot be used with ${host}: the setting VAULT_KUBERNETES_AUTH_HOSTS does not name it.`;
    expect(await lookups.fetch(wanted, new LookupSession())).toEqual([new LookupError(refused)]);
    const elsewhere = { ...permitted, VAULT_KUBERNETES_TOKEN_FILE: `${file}-none` };
    const missing = 'The token of the Kubernetes service account cannot be read.';
    expect(await lookupsWith(elsewhere).fetch(wanted, new LookupSession())).toEqual([
      new LookupError(missing),
    ]);
    expect(stores.takeLines()).toEqual([]);
  });

  it('receives one login in a session for each authentication path', async () => {
    stores.logins['other/approle'] = { role_id: 'role', secret_id: 'secret-id' };
    const store = v2({ role_id: 'role', secret_id: 'secret-id' });
    const session = new LookupSession();
    await lookups.fetch([{ store: { ...v2(token), id: 2 }, location: db }], session);
    stores.takeLines();
    for (const secret_key of ['user', 'password', 'user']) {
      const location = { ...db, secret_key };
      await lookups.fetch([{ store, location }], session);
      await lookups.fetch(
        [{ store, location: { ...location, auth_path: 'other/approle' } }],
        session,
      );
    }
    expect(stores.takeLines()).toEqual([
      ...['POST /v1/auth/approle/login', 'GET /v1/kv/data/db/prod'],
      ...['POST /v1/auth/other/approle/login', 'GET /v1/kv/data/db/prod'],
    ]);
    await lookups.fetch([{ store, location: db }], new LookupSession());
    expect(stores.takeLines()).toHaveLength(2);
    const later = Date.now() + 5 * 60 * 1000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
    await lookups.fetch([{ store, location: db }], session);
    clock.mockRestore();
    expect(stores.takeLines()).toHaveLength(2);
    stores.faults.push(403);
    await session.close();
    await session.close();
    // The token in the credential of another store is not revoked.
    expect(stores.takeLines()).toEqual(Array(3).fill('POST /v1/auth/token/revoke-self'));
  });

  it.each<[string, CredentialInputs, Record<string, string>, string]>([
    [
      'without a way to log in',
      {},
      db,
      'Token, username and password, AppRole, Kubernetes or TLS authentication parameters must be set.',
    ],
    ['with a wrong token', { token: 'no' }, db, 'HTTP 403.'],
    ['with a wrong login', { role_id: 'role', secret_id: 'no' }, db, 'HTTP 403.'],
    ['without the path', token, { ...db, secret_path: 'none' }, 'HTTP 404.'],
    [
      'without the key',
      token,
      { ...db, secret_key: 'toString' },
      '"toString" is not present at db/prod.',
    ],
    [
      'above its root',
      token,
      { ...db, secret_path: '../sys/seal' },
      'A path may not have "." or ".." in it.',
    ],
  ])('explains a missing value: %s', async (_name, inputs, location, message) => {
    expect(await read(v2(inputs), location)).toEqual(new LookupError(message));
  });

  it('may have a certificate of its own authority', async () => {
    const sink = await HttpSink.start({ tls: true });
    const storeWith = (inputs: CredentialInputs): StoreCredential =>
      v2({ ...token, ...inputs, url: sink.url });
    sink.reply({ body: { data: { data: { password: 'by TLS' } } } });
    expect(await read(storeWith({ cacert: TEST_CERTIFICATE }), db)).toBe('by TLS');
    for (const cacert of ['', 'no certificate']) {
      expect(await read(storeWith({ cacert }), db)).toBeInstanceOf(LookupError);
    }
    expect(sink.requests).toHaveLength(1);
    await sink.close();
  });

  it('receives no request if its address is not permitted', async () => {
    const closed = new OutboundClient({ allow: [], userAgent: 'test' });
    const [value] = await new SecretLookups(closed, settings, tokens).fetch(
      [{ store: v2(), location: db }],
      new LookupSession(),
    );
    expect(value).toEqual(
      new LookupError(
        'The address of 127.0.0.1 is not permitted. Private and local networks must be listed in OUTBOUND_ALLOW.',
      ),
    );
    expect(stores.takeLines()).toEqual([]);
    await closed.onApplicationShutdown();
  });
});

describe("CyberArk's Central Credential Provider", () => {
  const query = { object_query: 'Safe=Ops;Object=db' };

  it.each([
    ['', 'from the vault'],
    ['password', 'from the vault'],
    ['UserName', 'app'],
    ['address', 'db.example'],
  ])('returns the property %j of an account', async (object_property, value) => {
    const location = { ...query, object_property, reason: 'a job' };
    expect(await read(storeOf('aim', { app_id: 'ctl' }), location)).toBe(value);
    expect(stores.takeLines()).toEqual([
      'GET /AIMWebService/api/Accounts?AppId=ctl&Query=Safe%3DOps%3BObject%3Ddb&QueryFormat=Exact&reason=a%20job',
    ]);
  });

  it.each<[CredentialInputs, Record<string, string>, string]>([
    [{ app_id: 'other' }, query, 'HTTP 403.'],
    [
      { app_id: 'ctl' },
      { ...query, object_property: 'nope' },
      'The account has no property "nope".',
    ],
    [{}, query, 'The credential does not provide app_id.'],
  ])('explains a missing value: %j %j', async (inputs, location, message) => {
    expect(await read(storeOf('aim', inputs), location)).toEqual(new LookupError(message));
  });
});
