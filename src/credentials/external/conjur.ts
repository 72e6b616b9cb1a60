import type { OutboundRequest } from '../../outbound/outbound-client.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import { once, memoized, type SecretStore, baseOf, segmentOf } from './secret-store.js';
import { textIn, tokenOf } from './store-response.js';

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
