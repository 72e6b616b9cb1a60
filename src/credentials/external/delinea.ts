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
} from './secret-store.js';
import { decodedBase64, requiredField, objectIn, textIn, tokenIn } from './store-response.js';

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
