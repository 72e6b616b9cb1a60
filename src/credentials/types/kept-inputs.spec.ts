import { existing } from '../../common/invariants.js';
import type { CredentialInputs, CredentialTypeDefinition } from './definition.js';
import { secretInputs, validateInputs } from './inputs.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';

const typeOf = (namespace: string): CredentialTypeDefinition =>
  existing(managedCredentialType(namespace), namespace);
const CUSTOM: CredentialTypeDefinition = {
  name: 'Cloud X',
  kind: 'cloud',
  namespace: null,
  managed: false,
  inputs: {
    fields: [
      { id: 'region', label: 'Region', type: 'string', choices: ['eu', 'us'] },
      { id: 'secret', label: 'Secret', type: 'string', secret: true },
      { id: 'verify', label: 'Verify', type: 'boolean', default: true },
      { id: 'note', label: 'Note', type: 'string', destination: false },
    ],
  },
  injectors: {},
};

describe('stored secrets after a change of other inputs', () => {
  const KEPT = '$encrypted$';
  const changed = (
    type: CredentialTypeDefinition,
    previous: CredentialInputs,
    change: CredentialInputs,
  ): object => {
    const secrets = secretInputs(type).filter((id) => id in previous);
    const kept = Object.fromEntries(secrets.map((id) => [id, KEPT]));
    const { errors } = validateInputs(type, { ...previous, ...kept, ...change }, previous);
    return errors.inputs ?? {};
  };

  it.each<[string, CredentialInputs, CredentialInputs]>([
    ['azure_rm', { subscription: 's', password: 'pw' }, { cloud_environment: 'Other' }],
    ['azure_rm', { subscription: 's', password: 'pw', tenant: 'ours' }, { tenant: 'theirs' }],
    ['aim', { url: 'https://ccp.example.com', app_id: 'pw' }, { verify: false }],
    ['conjur', { url: 'https://c.example.com', api_key: 'pw' }, { cacert: 'another' }],
    ['hashivault_kv', { url: 'https://v.example.com', token: 'pw' }, { cacert: 'another' }],
    ['hashivault_kv', { url: 'https://v.example.com', token: 'pw' }, { default_auth_path: 'mine' }],
    ['azure_kv', { url: 'https://k.example.com', secret: 'pw' }, { cloud_name: 'AzureChinaCloud' }],
    ['thycotic_dsv', { tenant: 'ours', client_secret: 'pw' }, { tenant: 'theirs' }],
    ['thycotic_dsv', { tenant: 'ours', client_secret: 'pw' }, { tld: 'eu' }],
    ['openstack', { host: 'https://o.example.com', password: 'pw' }, { domain: 'other' }],
  ])('of %s must be sent again: %j, %j', (namespace, previous, change) => {
    const [secret = ''] = secretInputs(typeOf(namespace)).filter((id) => id in previous);
    const text = `${secret} must be entered again: ${Object.keys(change).join()} decides where it is sent.`;
    expect(changed(typeOf(namespace), previous, change)).toEqual({ [secret]: [text] });
  });

  it('must be sent again when a secret changes that decides their destination', () => {
    const kubernetes = { host: 'https://k.example.com', bearer_token: 'pw', ssl_ca_cert: 'ours' };
    const type = typeOf('kubernetes_bearer_token');
    expect(changed(type, kubernetes, { ssl_ca_cert: 'mine' })).toEqual({
      bearer_token: ['bearer_token must be entered again: ssl_ca_cert decides where it is sent.'],
    });
  });

  it('of custom types must be sent again if an input changes that is not declared harmless', () => {
    const previous = { region: 'eu', secret: 'pw', note: 'a' };
    expect(changed(CUSTOM, previous, { region: 'us' })).toEqual({
      secret: ['secret must be entered again: region decides where it is sent.'],
    });
    expect(changed(CUSTOM, previous, { verify: false })).toHaveProperty('secret');
    expect(changed(CUSTOM, previous, { note: 'b' })).toEqual({});
  });

  it('stay if only the account changes', () => {
    expect(changed(typeOf('ssh'), { username: 'a', password: 'pw' }, { username: 'b' })).toEqual(
      {},
    );
    const aws = { username: 'a', password: 'pw' };
    expect(changed(typeOf('aws'), aws, { username: 'b' })).toEqual({});
  });
});
