/**
 * Protocols of secret stores according to the documentation of their vendors: logins, values and refusals.
 * Each function responds to requests of one vendor and returns null for other requests.
 */
import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Request to the fake server. `host` is the public host of the request, or empty. */
export interface VendorRequest {
  method: string;
  host: string;
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface VendorResponse {
  status: number;
  /** Objects are sent as JSON. */
  body: object | string;
}

type Protocol = (request: VendorRequest) => VendorResponse | null;

const ok = (body: object | string): VendorResponse => ({ status: 200, body });
const refused = (status: number, body: object): VendorResponse => ({ status, body });
const form = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));
const isSame = (left: object, right: object): boolean =>
  JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(right).sort());

const azureKeyVault: Protocol = ({ host, path, headers, text }) => {
  if (host === 'login.microsoftonline.com') {
    const expected = {
      ...{ grant_type: 'client_credentials', client_id: 'app', client_secret: 'azure-secret' },
      scope: 'https://vault.azure.net/.default',
    };
    return path === '/tenant-1/oauth2/v2.0/token' && isSame(form(text), expected)
      ? ok({ token_type: 'Bearer', expires_in: 3599, access_token: 'azure-session' })
      : refused(401, { error: 'invalid_client', error_description: `secret detail ${text}` });
  }
  const [, name = '', version = ''] =
    /^\/secrets\/([\w-]+)(?:\/(\w+))?\?api-version=7\.4$/.exec(path) ?? [];
  if (name === '') return null;
  if (headers.authorization !== 'Bearer azure-session') {
    return refused(401, { error: { code: 'Unauthorized' } });
  }
  if (name === 'denied') return refused(403, { error: { code: 'Forbidden' } });
  if (name !== 'db') return refused(404, { error: { code: 'SecretNotFound' } });
  return ok({ value: version === '' ? 'azure-value' : `azure-value-${version}`, attributes: {} });
};

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the header that AWS expects, computed from its specification of signatures. */
function awsAuthorization({ host, headers, text }: VendorRequest, key: string): string {
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
  const value = (name: string): string => (name === 'host' ? host : String(headers[name]));
  const lines = names.split(';').map((name) => `${name}:${value(name)}\n`);
  const canonical = ['POST', '/', '', lines.join(''), names, sha256(text)].join('\n');
  const time = String(headers['x-amz-date']);
  const [day = '', region = ''] = [time.slice(0, 8), host.split('.')[1]];
  const scope = [day, region, 'secretsmanager', 'aws4_request'].join('/');
  const signing = [day, region, 'secretsmanager', 'aws4_request'].reduce<string | Buffer>(
    (derived, part) => hmac(derived, part),
    `AWS4${key}`,
  );
  const signature = hmac(signing, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n'));
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature.toString('hex')}`;
}

const awsSecretsManager: Protocol = (request) => {
  const { host, headers, text } = request;
  if (!host.startsWith('secretsmanager.')) return null;
  const isExpected = headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
  if (!isExpected || headers['content-type'] !== 'application/x-amz-json-1.1') {
    return refused(400, { __type: 'UnknownOperationException' });
  }
  if (headers.authorization !== awsAuthorization(request, 'aws-secret')) {
    return refused(400, { __type: 'InvalidSignatureException', message: 'secret detail' });
  }
  const { SecretId: id } = JSON.parse(text) as { SecretId: string };
  const binary = (bytes: Buffer) => ok({ Name: id, SecretBinary: bytes.toString('base64') });
  if (id === 'db') return ok({ Name: id, SecretString: 'aws-value' });
  if (id === 'file') return binary(Buffer.from('aws-binary-value'));
  if (id === 'image') return binary(Buffer.from([0xff, 0xfe, 0x00]));
  return refused(400, { __type: 'ResourceNotFoundException', Message: `secret detail ${id}` });
};

const CONJUR_TOKEN = Buffer.from('{"protected":"conjur-session"}').toString('base64');

const conjur: Protocol = ({ method, path, headers, text }) => {
  const route = path.startsWith('/conjur-cloud/') ? path.slice('/conjur-cloud/api'.length) : path;
  const isCloud = route !== path;
  if (/^\/api\/(authn|secrets)\//.test(route)) return refused(404, {});
  if (isCloud && !path.startsWith('/conjur-cloud/api/')) return refused(404, {});
  if (!/^\/(authn|secrets)\//.test(route) || headers['content-type']?.includes('json')) return null;
  if (method === 'POST') {
    const isKnown = route === '/authn/acme/host%2Fctl/authenticate' && text === 'conjur-key';
    return isKnown ? ok(CONJUR_TOKEN) : refused(401, {});
  }
  if (headers.authorization !== `Token token="${CONJUR_TOKEN}"`) return refused(401, {});
  if (route === '/secrets/acme/variable/prod%2Fdb') return ok('conjur-value');
  if (route === '/secrets/acme/variable/prod%2Fdb?version=2') return ok('conjur-older');
  return refused(404, { error: { code: 'not_found', message: 'secret detail' } });
};

const secretServer: Protocol = ({ path, headers, text }) => {
  const route = path.startsWith('/SecretServer/') ? path.slice('/SecretServer'.length) : '';
  if (route === '/oauth2/token') {
    const { domain, ...rest } = form(text);
    const expected = { grant_type: 'password', username: 'ctl', password: 'tss-secret' };
    return isSame(rest, expected) && (domain === undefined || domain === 'corp')
      ? ok({ access_token: 'tss-session', token_type: 'bearer', expires_in: 1199 })
      : refused(400, { error: 'invalid_grant', error_description: 'secret detail' });
  }
  if (route === '') return null;
  if (headers.authorization !== 'Bearer tss-session') return refused(401, { message: 'no' });
  if (route === '/api/v1/secrets/7/fields/key-file') return ok('tss-file-value');
  if (route !== '/api/v1/secrets/7') {
    return refused(400, { errorCode: 'API_AccessDenied', message: 'secret detail' });
  }
  return ok({
    id: 7,
    items: [
      { fieldName: 'User', slug: 'username', itemValue: 'tss-user', fileAttachmentId: null },
      { fieldName: 'Password', slug: 'password', itemValue: 'tss-value', fileAttachmentId: null },
      { fieldName: 'Key', slug: 'key-file', itemValue: '*** Not Valid ***', fileAttachmentId: 4 },
    ],
  });
};

const devOpsSecretsVault: Protocol = ({ host, path, headers, text }) => {
  if (host !== 'acme.secretsvaultcloud.eu') return null;
  if (path === '/v1/token') {
    const expected = {
      ...{ grant_type: 'client_credentials', client_id: 'ctl', client_secret: 'dsv-secret' },
    };
    return isSame(JSON.parse(text) as object, expected)
      ? ok({ accessToken: 'dsv-session', tokenType: 'bearer', expiresIn: 3600 })
      : refused(401, { code: 401, message: 'secret detail' });
  }
  if (headers.authorization !== 'Bearer dsv-session') return refused(401, { code: 401 });
  if (path !== '/v1/secrets/prod/db') return refused(404, { message: 'secret detail' });
  const data = { password: 'dsv-value', user: 'dsv-user', key: 'ZHN2LWZpbGUtdmFsdWU=' };
  return ok({ id: 'x', path: 'prod:db', data, version: '1' });
};

const centrifyVault: Protocol = ({ path, headers, text }) => {
  if (path === '/oauth2/token/awx') {
    const expected = { grant_type: 'client_credentials', scope: 'awx' };
    const basic = `Basic ${Buffer.from('ctl@acme:pas-secret').toString('base64')}`;
    return headers.authorization === basic && isSame(form(text), expected)
      ? ok({ access_token: 'pas-session', token_type: 'Bearer', expires_in: 18000 })
      : refused(401, { error: 'access_denied', error_description: 'secret detail' });
  }
  if (path !== '/Redrock/query' && path !== '/ServerManage/CheckoutPassword') return null;
  if (
    headers.authorization !== 'Bearer pas-session' ||
    headers['x-centrify-native-client'] !== 'true'
  ) {
    return refused(401, { success: false });
  }
  const { Script, ID } = JSON.parse(text) as { Script?: string; ID?: string };
  if (path === '/Redrock/query') {
    const account = /where Name='(\w+)' and User='([\w/]+)'$/.exec(Script ?? '');
    const ids = { db1: ['account-1'], twins: ['account-2', 'account-3'], shut: ['account-4'] };
    const found = account?.[2] === 'root' ? (ids[account[1] as keyof typeof ids] ?? []) : [];
    return ok({ success: true, Result: { Results: found.map((id) => ({ Row: { ID: id } })) } });
  }
  return ID === 'account-1'
    ? ok({ success: true, Result: { COID: 'c', Password: 'pas-value' } })
    : ok({ success: false, Result: null, Message: 'secret detail' });
};

/** Key of the GitHub App with the id 7, in GitHub's format. */
export const GITHUB_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

/** Returns true for a token of the app that is signed with its key, and valid for ten minutes at most. */
function isAppToken(jwt: string): boolean {
  const [head = '', body = '', signature = ''] = jwt.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const { iss, iat, exp } = claims as { iss: string; iat: number; exp: number };
  const now = Date.now() / 1000;
  const isSigned = createVerify('RSA-SHA256')
    .update(`${head}.${body}`)
    .verify(GITHUB_KEY.publicKey, signature, 'base64url');
  return isSigned && iss === '7' && iat <= now && exp > now && exp - iat <= 600;
}

const github: Protocol = ({ method, host, path, headers }) => {
  const route = host === 'api.github.com' ? path : path.replace('/api/v3', '');
  const id = /^\/app\/installations\/([^/]+)\/access_tokens$/.exec(route)?.[1];
  if (id === undefined || method !== 'POST') return null;
  if (!isAppToken((headers.authorization ?? '').replace('Bearer ', ''))) {
    return refused(401, { message: 'secret detail' });
  }
  if (id !== '42') return refused(404, { message: 'Not Found' });
  return { status: 201, body: { token: 'ghs_github-value', permissions: { contents: 'read' } } };
};

/** Protocols of all vendors except HashiCorp Vault and CyberArk's Central Credential Provider. */
export const VENDOR_PROTOCOLS: readonly Protocol[] = [
  azureKeyVault,
  awsSecretsManager,
  conjur,
  secretServer,
  devOpsSecretsVault,
  centrifyVault,
  github,
];
