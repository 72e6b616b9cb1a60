import { FakeSecretStores } from '../../../test/support/fakes/fake-secret-stores.js';
import { HttpSink } from '../../../test/support/fakes/http-sink.js';
import { VENDOR_STORES, type VendorSample } from '../../../test/support/fakes/vendor-samples.js';
import { Settings } from '../../config/settings.js';
import { OutboundClient } from '../../outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';
import { EXTERNAL_TYPES } from '../types/external-types.js';
import type { IdentityTokens } from '../identity-tokens.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';
import { signedRequest } from './aws-secrets-manager.js';
import { LookupError } from './lookup-error.js';
import { LookupSession } from './lookup-session.js';
import { SecretLookups } from './secret-lookups.service.js';
import { SECRET_STORES } from './secret-stores.js';

const settings = Settings.load({
  ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
});

/** Lookups without long delays before retries. */
class QuickLookups extends SecretLookups {
  protected override readonly limits = { callMs: 5000, totalMs: 15_000, waitsMs: [5, 5] };
}

/** Lookups with short timeouts, for slow stores. */
class HastyLookups extends SecretLookups {
  protected override readonly limits = { callMs: 150, totalMs: 2000, waitsMs: [5, 5] };
}

const tokens: IdentityTokens = {
  issue: ({ runId }, audience, use) => Promise.resolve(`token-of-${runId}-for-${audience}-${use}`),
};

let stores: FakeSecretStores;
let client: OutboundClient;
let lookups: SecretLookups;
beforeAll(async () => {
  stores = await FakeSecretStores.start();
  Object.assign(stores.secrets, { 'kv/data/db': { data: { password: 'vault-value' } } });
  stores.logins.jwt = { role: 'runs', jwt: 'token-of-null-for-vault-login' };
  Object.assign(stores.accounts, { 'Safe=Ops;Object=db': { Content: 'ccp-value' } });
  client = new OutboundClient({ allow: ['127.0.0.0/8'], userAgent: 'test' });
  stores.reroute(client);
  lookups = new QuickLookups(client, settings, tokens);
});
afterAll(async () => {
  await client.onApplicationShutdown();
  await stores.close();
});
beforeEach(() => {
  stores.takeLines();
});

type Place = Record<string, string>;

function storeOf(namespace: string, inputs: CredentialInputs) {
  const type = managedCredentialType(namespace);
  if (!type) throw new Error(`no type ${namespace}`);
  return { id: 1, type, inputs };
}

function read(namespace: string, inputs: CredentialInputs, ...places: Place[]) {
  const store = storeOf(namespace, inputs);
  const requests = places.map((location) => ({ store, location }));
  return lookups.fetch(requests, new LookupSession());
}

function sampleOf(namespace: string): VendorSample {
  const sample = VENDOR_STORES[namespace];
  if (!sample) throw new Error(`no sample ${namespace}`);
  return sample;
}

const samples = Object.entries(VENDOR_STORES).map(([namespace, sample]) => ({
  namespace,
  ...sample,
}));
const good = ({ namespace, inputs, location }: (typeof samples)[number], more: Place = {}) =>
  read(namespace, inputs(stores.url), { ...location, ...more });

it('every type of a secret store has an implementation and a test', () => {
  const offered = EXTERNAL_TYPES.map(({ namespace }) => namespace).sort();
  const tokens = ['github_app_token', 'run_identity_token'];
  expect([...SECRET_STORES.keys()].sort()).toEqual([...offered, ...tokens].sort());
  expect(Object.keys(VENDOR_STORES).sort()).toEqual(offered);
});

describe.each(samples)('$namespace', (sample) => {
  const { namespace, inputs, location, value, wrong, refusal, lines } = sample;

  it('returns a value, with one login and one read for several inputs', async () => {
    const places = Array.from({ length: 5 }, () => location);
    const values = await read(namespace, inputs(stores.url), ...places);
    expect(values).toEqual(Array.from({ length: 5 }, () => value));
    expect(stores.takeLines()).toEqual(lines);
  });

  it('reports a wrong secret without the response of the store', async () => {
    const values = await read(namespace, { ...inputs(stores.url), ...wrong }, location);
    expect(values).toEqual([new LookupError(refusal)]);
  });

  it('explains a missing value', async () => {
    for (const [elsewhere, message] of sample.faults) {
      expect(await good(sample, elsewhere)).toEqual([new LookupError(message)]);
    }
  });

  it('refuses hostile responses at each step', async () => {
    const sink = await HttpSink.start();
    for (const [index] of lines.entries()) {
      const before = lines.slice(0, index).map(() => null);
      for (const fault of ['large', 'html', `${sink.url}/` as 'http:'] as const) {
        if (fault === 'html' && sample.isText && index === lines.length - 1) continue;
        stores.faults.push(...before, fault);
        const [answer] = await good(sample);
        expect(answer).toBeInstanceOf(LookupError);
        expect(String(answer)).toMatch(
          /too large|not a JSON object|without a token|another host|HTTP 307/,
        );
        expect(String(answer)).not.toMatch(/detail/);
      }
    }
    expect(sink.requests).toEqual([]);
    await sink.close();
  });

  it('retries a limited number of times if the store is unavailable or slow', async () => {
    stores.faults.push(412, 503);
    expect(await good(sample)).toEqual([value]);
    stores.faults.push(503, 503, 503);
    expect(await good(sample)).toEqual([new LookupError('HTTP 503.')]);
    stores.faults.push('hang', 'hang', 'hang');
    const store = storeOf(namespace, inputs(stores.url));
    const hasty = new HastyLookups(client, settings, tokens);
    const [answer] = await hasty.fetch([{ store, location }], new LookupSession());
    expect(String(answer)).toContain('no complete response in time');
  });
});

it.each<[string, Place, string]>([
  ['azure_kv', { secret_version: 'v2' }, 'azure-value-v2'],
  ['aws_secretsmanager_credential', { secret_name: 'file' }, 'aws-binary-value'],
  ['conjur', { secret_version: '2' }, 'conjur-older'],
  ['thycotic_tss', { secret_field: 'key-file' }, 'tss-file-value'],
  ['thycotic_dsv', { secret_field: 'key', secret_decoding: 'Decode Base64' }, 'dsv-file-value'],
])('%s returns another value for %j', async (namespace, more, value) => {
  expect(await good({ namespace, ...sampleOf(namespace) }, more)).toEqual([value]);
});

it('Secret Server accepts a login with a domain', async () => {
  const { inputs, location } = sampleOf('thycotic_tss');
  const values = await read('thycotic_tss', { ...inputs(stores.url), domain: 'corp' }, location);
  expect(values).toEqual(['tss-value']);
});

it('Conjur Cloud is used under the path /api', async () => {
  const { inputs, location } = sampleOf('conjur');
  const cloud = inputs(`${stores.url}/conjur-cloud`);
  expect(await read('conjur', cloud, location)).toEqual(['conjur-value']);
  expect(stores.takeLines()).toHaveLength(3);
  const wrong = await read('conjur', { ...cloud, api_key: 'no' }, location);
  expect(wrong).toEqual([new LookupError('HTTP 401.')]);
});

it('GitHub Enterprise issues tokens at its own address, and other installations are refused', async () => {
  const inputs = sampleOf('github_app').inputs(stores.url);
  const enterprise = { ...inputs, github_url: `${stores.url}/api/v3/` };
  expect(await read('github_app_token', enterprise, {})).toEqual(['ghs_github-value']);
  const values = await read('github_app_token', { ...inputs, install_id: '43' }, {});
  expect(values).toEqual([new LookupError('HTTP 404.')]);
  const text = 'The private key of the app is not an RSA key in PEM without a passphrase.';
  const noKey = { ...inputs, private_rsa_key: 'no key' };
  expect(await read('github_app_token', noKey, {})).toEqual([new LookupError(text)]);
});

/** From the test suite of Signature Version 4 that AWS publishes. */
it.each([
  ['GET', '/', {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['POST', '/', {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    ...(['GET', '/?Param2=value2&Param1=value1', {}, ''] as const),
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    ...(['POST', '/', { 'Content-Type': 'application/x-www-form-urlencoded' }] as const),
    'Param1=value1',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
] as const)('signs %s %s %j %j as AWS does', async (method, path, headers, body, signature) => {
  const { headers: signed } = await signedRequest(
    { method, url: `https://example.amazonaws.com${path}`, headers, body },
    {
      ...{ accessKeyId: 'AKIDEXAMPLE', service: 'service', region: 'us-east-1' },
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      datetime: '20150830T123600Z',
    },
  );
  expect(signed?.authorization).toMatch(new RegExp(`, Signature=${signature}$`));
});
