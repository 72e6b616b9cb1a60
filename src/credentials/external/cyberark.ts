import type { OutboundRequest } from '../../outbound/outbound-client.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import { once, memoized, type SecretStore, baseOf, segmentOf } from './secret-store.js';
import { objectIn, storeTextOf, textIn, tokenOf } from './store-response.js';

/** Session of Conjur: the token, and the base URL that accepted the login. */
interface Session {
  base: string;
  token: string;
}

/** Reads variables from CyberArk Conjur, self-hosted or in the cloud. */
export const conjur: SecretStore = (inputs, { call }) => {
  const secrets = new Map<string, Promise<string>>();
  const [account, username] = ['account', 'username'].map((id) =>
    segmentOf(textInput(inputs, id), id),
  );
  const ca = textInput(inputs, 'cacert');
  const send = async (request: OutboundRequest): Promise<string> =>
    textIn(await call({ ...request, ...(ca === '' ? {} : { tls: { ca } }) }));

  async function loginAt(base: string): Promise<Session> {
    const response = await send({
      method: 'POST',
      url: `${base}/authn/${account}/${username}/authenticate`,
      headers: { 'Content-Type': 'text/plain', 'Accept-Encoding': 'base64' },
      body: textInput(inputs, 'api_key'),
    });
    // Servers that do not support the encoding respond with the token as JSON.
    const token = response.trimStart().startsWith('{')
      ? Buffer.from(response).toString('base64')
      : response.replace(/\s/g, '');
    return { base, token: tokenOf(/^[\w+/=-]+$/.test(token) ? token : null) };
  }

  /**
   * Logs in. The cloud has the same paths below `/api`; without them, the first refusal is
   * reported.
   */
  const login = memoized(async (): Promise<Session> => {
    const base = baseOf(textInput(inputs, 'url'));
    try {
      return await loginAt(base);
    } catch (refusal) {
      if (!(refusal instanceof LookupError) || refusal.status === undefined) throw refusal;
      return await loginAt(`${base}/api`).catch((error: unknown) => {
        throw error instanceof LookupError && error.status === 404 ? refusal : error;
      });
    }
  });

  return {
    read({ secret_path: path = '', secret_version: version = '' }) {
      if (path === '') throw new LookupError('The secret identifier must be set.');
      const query = version === '' ? '' : `?version=${encodeURIComponent(version)}`;
      const location = segmentOf(path, 'secret_path') + query;
      return once(secrets, location, async () => {
        const { base, token } = await login();
        return send({
          method: 'GET',
          url: `${base}/secrets/${account}/variable/${location}`,
          headers: { Authorization: `Token token="${token}"` },
        });
      });
    },
  };
};

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
      const query = new URLSearchParams({
        AppId: textInput(inputs, 'app_id'),
        Query: location.object_query ?? '',
        QueryFormat: location.object_query_format ?? 'Exact',
        ...(location.reason ? { reason: location.reason } : {}),
      });
      // Not the `+` of forms: object names have spaces, and not every server reads `+` as one.
      const account = await read(query.toString().replaceAll('+', '%20'));
      const propertyName = location.object_property ?? '';
      const property = PROPERTIES[propertyName.toLowerCase()] ?? propertyName;
      if (!Object.hasOwn(account, property)) {
        throw new LookupError(`The account has no property "${property}".`);
      }
      return storeTextOf(account[property]);
    },
  };
};
