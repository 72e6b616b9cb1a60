import { isRecord, listOf, memberOf } from '../../common/records.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import {
  once,
  memoized,
  type SecretStore,
  baseOf,
  bearer,
  formLogin,
  hostPartOf,
  JSON_HEADERS,
  pathSegments,
  segmentOf,
} from './secret-store.js';
import { decodedBase64, requiredField, objectIn, textIn, tokenIn } from './store-response.js';
import { basicAuthorization } from '../../outbound/outbound-client.js';

/** Reads fields of secrets from Secret Server of Delinea, formerly Thycotic. */
export const secretServer: SecretStore = (inputs, { call }) => {
  const secrets = new Map<string, Promise<Record<string, unknown>>>();
  const base = baseOf(textInput(inputs, 'server_url'));
  const login = memoized(async () => {
    const [username = '', password = '', domain = ''] = ['username', 'password', 'domain'].map(
      (id) => textInput(inputs, id),
    );
    const fields = { grant_type: 'password', username, password };
    return formLogin(call, `${base}/oauth2/token`, domain === '' ? fields : { ...fields, domain });
  });
  const get = async (path: string) =>
    call({ method: 'GET', url: `${base}/api/v1/secrets/${path}`, headers: bearer(await login()) });

  return {
    async read({ secret_id: id = '', secret_field: slug = '' }) {
      if (!/^\d+$/.test(id)) throw new LookupError(`"${id}" is not valid for secret_id.`);
      const secret = await once(secrets, id, async () => objectIn(await get(id)));
      const fields = listOf(memberOf(secret, 'items'));
      const item = fields.find((field) => memberOf(field, 'slug') === slug);
      if (!isRecord(item)) throw new LookupError(`"${slug}" is not present at ${id}.`);
      // Files are not part of the secret.
      return typeof item.fileAttachmentId === 'number'
        ? textIn(await get(`${id}/fields/${encodeURIComponent(slug)}`))
        : requiredField(item, 'itemValue', id);
    },
  };
};

/** Reads secrets from DevOps Secrets Vault of Delinea, formerly Thycotic. */
export const devOpsSecretsVault: SecretStore = (inputs, { call }) => {
  const secrets = new Map<string, Promise<Record<string, unknown>>>();
  const tenant = hostPartOf(textInput(inputs, 'tenant'), 'tenant');
  const base = `https://${tenant}.secretsvaultcloud.${textInput(inputs, 'tld')}/v1`;
  const login = memoized(async () => {
    const response = await call({
      method: 'POST',
      url: `${base}/token`,
      headers: JSON_HEADERS,
      body: JSON.stringify({
        grant_type: 'client_credentials',
        client_id: textInput(inputs, 'client_id'),
        client_secret: textInput(inputs, 'client_secret'),
      }),
    });
    return tokenIn(response, 'accessToken');
  });

  return {
    async read({ path = '', secret_field: field = '', secret_decoding: decoding = '' }) {
      const secretPath = pathSegments(path).join('/');
      const secret = await once(secrets, secretPath, async () => {
        const headers = bearer(await login());
        return objectIn(
          await call({ method: 'GET', url: `${base}/secrets/${secretPath}`, headers }),
        );
      });
      const value = requiredField(memberOf(secret, 'data'), field, path);
      return decoding === 'Decode Base64' ? decodedBase64(value) : value;
    },
  };
};

/** Checks passwords of accounts out of Centrify Vault. */
export const centrifyVault: SecretStore = (inputs, { call }) => {
  const passwords = new Map<string, Promise<string>>();
  const base = baseOf(textInput(inputs, 'url'));
  const login = memoized(async () => {
    const application = segmentOf(
      textInput(inputs, 'oauth_application_id'),
      'oauth_application_id',
    );
    const user = textInput(inputs, 'client_id');
    const fields = { grant_type: 'client_credentials', scope: textInput(inputs, 'oauth_scope') };
    return formLogin(call, `${base}/oauth2/token/${application}`, fields, {
      Authorization: basicAuthorization(user, textInput(inputs, 'client_password')),
    });
  });

  /** Returns the result of a method. Failed methods also respond with the status 200. */
  async function callMethod(path: string, body: object): Promise<unknown> {
    const token = await login();
    const response = objectIn(
      await call({
        method: 'POST',
        url: base + path,
        headers: { ...JSON_HEADERS, ...bearer(token), 'X-CENTRIFY-NATIVE-CLIENT': 'true' },
        body: JSON.stringify(body),
      }),
    );
    if (response.success === false) throw new LookupError('The store refused the request.');
    return response.Result;
  }

  async function accountId(account: string, system: string): Promise<string> {
    const result = await callMethod('/Redrock/query', {
      Script: `Select ID from VaultAccount where Name=${quoted(system, 'system-name')} and User=${quoted(account, 'account-name')}`,
    });
    const found = listOf(memberOf(result, 'Results'));
    const id = memberOf(memberOf(found[0], 'Row'), 'ID');
    if (found.length !== 1 || typeof id !== 'string') {
      throw new LookupError(`${found.length} accounts have this name on this system.`);
    }
    return id;
  }

  return {
    read({ 'account-name': account = '', 'system-name': system = '' }) {
      return once(passwords, JSON.stringify([account, system]), async () => {
        const ID = await accountId(account, system);
        const result = await callMethod('/ServerManage/CheckoutPassword', { ID });
        const password = memberOf(result, 'Password');
        if (typeof password !== 'string') throw new LookupError('The response has no password.');
        return password;
      });
    },
  };
};

/**
 * Returns a name as a string literal of a query. The query language has no parameters, so names
 * that could end the literal are refused.
 *
 * @throws LookupError
 */
function quoted(name: string, input: string): string {
  if (!/^[^'"\\\p{Cc}]+$/u.test(name)) {
    throw new LookupError(`Quotes, backslashes and line breaks are not valid for ${input}.`);
  }
  return `'${name}'`;
}
