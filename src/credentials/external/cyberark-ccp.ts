import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import { once, type SecretLocation, type SecretStore, baseOf } from './secret-store.js';
import { objectIn, storeTextOf } from './store-response.js';

/** Members of the response by the property names that users can enter. */
const PROPERTIES: Readonly<Record<string, string>> = {
  '': 'Content',
  password: 'Content',
  username: 'UserName',
  address: 'Address',
};

/** Reads accounts from CyberArk's Central Credential Provider. Every request is authenticated. */
export const cyberArkCcp: SecretStore = (inputs, { call }) => {
  const accounts = new Map<string, Promise<Record<string, unknown>>>();
  const base = baseOf(textInput(inputs, 'url'));
  const service = encodeURIComponent(textInput(inputs, 'webservice_id') || 'AIMWebService');
  const [cert, key] = ['client_cert', 'client_key'].map((id) => textInput(inputs, id));

  const read = (query: string) =>
    once(accounts, query, async () =>
      objectIn(
        await call({
          method: 'GET',
          url: `${base}/${service}/api/Accounts?${query}`,
          verifyTls: inputs.verify !== false,
          ...(cert && key ? { tls: { cert, key } } : {}),
        }),
      ),
    );

  return {
    async read(location) {
      const account = await read(queryOf(textInput(inputs, 'app_id'), location));
      const propertyName = location.object_property ?? '';
      const property = PROPERTIES[propertyName.toLowerCase()] ?? propertyName;
      if (!Object.hasOwn(account, property)) {
        throw new LookupError(`The account has no property "${property}".`);
      }
      return storeTextOf(account[property]);
    },
  };
};

function queryOf(AppId: string, location: SecretLocation): string {
  return new URLSearchParams({
    AppId,
    Query: location.object_query ?? '',
    QueryFormat: location.object_query_format ?? 'Exact',
    ...(location.reason ? { reason: location.reason } : {}),
  }).toString();
}
