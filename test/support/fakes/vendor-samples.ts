import { generateKeyPairSync } from 'node:crypto';

import type { CredentialInputs } from '../../../src/credentials/types/definition.js';
import { GITHUB_KEY } from './vendor-stores.js';

/** Credential for a secret store that the fake server accepts, and a secret in the store. */
export interface VendorSample {
  inputs: (url: string) => CredentialInputs;
  location: Record<string, string>;
  value: string;
  /** Inputs with a wrong secret. `refusal` is the resulting message. */
  wrong: CredentialInputs;
  refusal: string;
  /** Requests for one value. */
  lines: string[];
  /** Changes of the location to one without a value, with the resulting message. */
  faults: [Record<string, string>, string][];
  /** True if the value is the whole response, which can be any text. */
  isText?: boolean;
}

const OTHER_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
}).privateKey;

const VAULT = { role_id: 'role', secret_id: 'secret-id' };

/** Samples by the namespace of their type. */
export const VENDOR_STORES: Readonly<Record<string, VendorSample>> = {
  hashivault_kv: {
    inputs: (url) => ({ url, api_version: 'v2', ...VAULT }),
    location: { secret_backend: 'kv', secret_path: 'db', secret_key: 'password' },
    value: 'vault-value',
    wrong: { secret_id: 'no' },
    refusal: 'HTTP 403.',
    lines: ['POST /v1/auth/approle/login', 'GET /v1/kv/data/db'],
    faults: [[{ secret_key: 'none' }, '"none" is not present at db.']],
  },
  'hashivault-kv-oidc': {
    inputs: (url) => ({ url, api_version: 'v2', jwt_role: 'runs', jwt_aud: 'vault' }),
    location: { secret_backend: 'kv', secret_path: 'db', secret_key: 'password' },
    value: 'vault-value',
    wrong: { jwt_aud: 'another' },
    refusal: 'HTTP 403.',
    lines: ['POST /v1/auth/jwt/login', 'GET /v1/kv/data/db'],
    faults: [[{ auth_path: 'none' }, 'HTTP 403.']],
  },
  'hashivault-ssh-oidc': {
    inputs: (url) => ({ url, jwt_role: 'runs', jwt_aud: 'vault' }),
    location: {
      public_key: 'ssh-ed25519 AAAA',
      secret_path: 'ssh',
      role: 'ops',
      valid_principals: 'root',
    },
    value: 'ssh-ed25519-cert-v01@openssh.com signed root\n',
    wrong: { jwt_role: 'no' },
    refusal: 'HTTP 403.',
    lines: ['POST /v1/auth/jwt/login', 'POST /v1/ssh/sign/ops'],
    faults: [[{ role: 'none' }, 'HTTP 404.']],
  },
  hashivault_ssh: {
    inputs: (url) => ({ url, ...VAULT }),
    location: {
      ...{ public_key: 'ssh-ed25519 AAAA', secret_path: 'ssh', role: 'ops' },
      valid_principals: 'root',
    },
    value: 'ssh-ed25519-cert-v01@openssh.com signed root\n',
    wrong: { secret_id: 'no' },
    refusal: 'HTTP 403.',
    lines: ['POST /v1/auth/approle/login', 'POST /v1/ssh/sign/ops'],
    faults: [
      [{ role: 'none' }, 'HTTP 404.'],
      [{ role: '..' }, '".." is not valid for role.'],
      [{ public_key: 'no key' }, 'HTTP 400.'],
    ],
  },
  aim: {
    inputs: (url) => ({ url, app_id: 'ccp-secret' }),
    location: { object_query: 'Safe=Ops;Object=db' },
    value: 'ccp-value',
    wrong: { app_id: 'no' },
    refusal: 'HTTP 403.',
    lines: [
      'GET /AIMWebService/api/Accounts?AppId=ccp-secret&Query=Safe%3DOps%3BObject%3Ddb&QueryFormat=Exact',
    ],
    faults: [[{ object_property: 'none' }, 'The account has no property "none".']],
  },
  azure_kv: {
    inputs: (url) => ({ url, client: 'app', secret: 'azure-secret', tenant: 'tenant-1' }),
    location: { secret_field: 'db' },
    value: 'azure-value',
    wrong: { secret: 'no' },
    refusal: 'HTTP 401.',
    lines: [
      'POST /@login.microsoftonline.com/tenant-1/oauth2/v2.0/token',
      'GET /secrets/db?api-version=7.4',
    ],
    faults: [
      [{ secret_field: 'none' }, 'HTTP 404.'],
      [{ secret_field: 'denied' }, 'HTTP 403.'],
      [{ secret_field: '..' }, '".." is not valid for secret_field.'],
    ],
  },
  aws_secretsmanager_credential: {
    inputs: () => ({ aws_access_key: 'AKIDEXAMPLE', aws_secret_key: 'aws-secret' }),
    location: { region_name: 'eu-west-1', secret_name: 'db' },
    value: 'aws-value',
    wrong: { aws_secret_key: 'no' },
    refusal: 'HTTP 400: InvalidSignatureException.',
    lines: ['POST /@secretsmanager.eu-west-1.amazonaws.com/'],
    faults: [
      [{ secret_name: 'none' }, 'HTTP 400: ResourceNotFoundException.'],
      [{ secret_name: 'image' }, 'The value is binary, not a text.'],
      [{ region_name: 'evil.example/' }, '"evil.example/" is not valid for region_name.'],
    ],
  },
  conjur: {
    inputs: (url) => ({ url, api_key: 'conjur-key', account: 'acme', username: 'host/ctl' }),
    location: { secret_path: 'prod/db' },
    value: 'conjur-value',
    wrong: { api_key: 'no' },
    refusal: 'HTTP 401.',
    lines: ['POST /authn/acme/host%2Fctl/authenticate', 'GET /secrets/acme/variable/prod%2Fdb'],
    faults: [
      [{ secret_path: 'none' }, 'HTTP 404.'],
      [{ secret_path: '' }, 'The secret identifier must be set.'],
    ],
    isText: true,
  },
  github_app: {
    inputs: () => ({ app_id: '7', install_id: '42', private_rsa_key: GITHUB_KEY.privateKey }),
    location: {},
    value: 'ghs_github-value',
    wrong: { private_rsa_key: OTHER_KEY },
    refusal: 'HTTP 401.',
    lines: ['POST /@api.github.com/app/installations/42/access_tokens'],
    faults: [],
  },
  thycotic_tss: {
    inputs: (url) => ({
      ...{ server_url: `${url}/SecretServer`, username: 'ctl', password: 'tss-secret' },
    }),
    location: { secret_id: '7', secret_field: 'password' },
    value: 'tss-value',
    wrong: { password: 'no' },
    refusal: 'HTTP 400.',
    lines: ['POST /SecretServer/oauth2/token', 'GET /SecretServer/api/v1/secrets/7'],
    faults: [
      [{ secret_id: '8' }, 'HTTP 400.'],
      [{ secret_id: '../7' }, '"../7" is not valid for secret_id.'],
      [{ secret_field: 'none' }, '"none" is not present at 7.'],
    ],
  },
  thycotic_dsv: {
    inputs: () => ({ tenant: 'acme', tld: 'eu', client_id: 'ctl', client_secret: 'dsv-secret' }),
    location: { path: '/prod/db', secret_field: 'password', secret_decoding: 'No Decoding' },
    value: 'dsv-value',
    wrong: { client_secret: 'no' },
    refusal: 'HTTP 401.',
    lines: [
      'POST /@acme.secretsvaultcloud.eu/v1/token',
      'GET /@acme.secretsvaultcloud.eu/v1/secrets/prod/db',
    ],
    faults: [
      [{ path: 'none' }, 'HTTP 404.'],
      [{ secret_field: 'none' }, '"none" is not present at /prod/db.'],
      [{ secret_decoding: 'Decode Base64' }, 'The value is not Base64.'],
    ],
  },
  centrify_vault_kv: {
    inputs: (url) => ({ url, client_id: 'ctl@acme', client_password: 'pas-secret' }),
    location: { 'account-name': 'root', 'system-name': 'db1' },
    value: 'pas-value',
    wrong: { client_password: 'no' },
    refusal: 'HTTP 401.',
    lines: ['POST /oauth2/token/awx', 'POST /Redrock/query', 'POST /ServerManage/CheckoutPassword'],
    faults: [
      [{ 'system-name': 'none' }, '0 accounts have this name on this system.'],
      [{ 'system-name': 'twins' }, '2 accounts have this name on this system.'],
      [{ 'system-name': 'shut' }, 'The store refused the request.'],
      [
        { 'account-name': "x' or '1'='1" },
        'Quotes, backslashes and line breaks are not valid for account-name.',
      ],
    ],
  },
};

/** Tokens that the fake servers return for logins. */
export const SESSION_TOKENS = [
  ...['azure-session', 'conjur-session', 'dsv-session', 'hvs.given-for-a-login', 'pas-session'],
  ...['tss-session', Buffer.from('{"protected":"conjur-session"}').toString('base64')],
  // Start of every token of a run, and of every JWT of a GitHub App.
  'eyJhbGciOi',
];
