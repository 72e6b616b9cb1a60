import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import type { SecretStore } from './secret-store.js';
import { objectIn, storeTextOf } from './store-answer.js';

/** Members of the response, by the names that users can enter. */
const PROPERTIES: Readonly<Record<string, string>> = {
  '': 'Content',
  password: 'Content',
  username: 'UserName',
  address: 'Address',
};

/** Reads accounts from CyberArk's Central Credential Provider. */
export const cyberArkCcp: SecretStore = (inputs, call) => ({
  async read(place) {
    const query = new URLSearchParams({
      AppId: textInput(inputs, 'app_id'),
      Query: place.object_query ?? '',
      QueryFormat: place.object_query_format ?? 'Exact',
      ...(place.reason ? { reason: place.reason } : {}),
    });
    const [cert, key] = ['client_cert', 'client_key'].map((id) => textInput(inputs, id));
    const base = textInput(inputs, 'url').replace(/\/+$/, '');
    const service = encodeURIComponent(textInput(inputs, 'webservice_id') || 'AIMWebService');
    const answer = await call({
      method: 'GET',
      url: `${base}/${service}/api/Accounts?${query.toString()}`,
      verifyTls: inputs.verify !== false,
      ...(cert && key ? { tls: { cert, key } } : {}),
    });
    const wanted = place.object_property ?? '';
    const account = objectIn(answer);
    const property = PROPERTIES[wanted.toLowerCase()] ?? wanted;
    if (!Object.hasOwn(account, property)) {
      throw new LookupError(`The account has no property "${property}".`);
    }
    return storeTextOf(account[property]);
  },
});
