import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import {
  once,
  memoized,
  type SecretStore,
  baseOf,
  bearer,
  formLogin,
  segmentOf,
} from './secret-store.js';
import { requiredField, objectIn } from './store-response.js';

/** Host of logins and host of the scope, by cloud. */
const CLOUDS: Readonly<Record<string, readonly [login: string, vault: string]>> = {
  AzureCloud: ['login.microsoftonline.com', 'vault.azure.net'],
  AzureChinaCloud: ['login.chinacloudapi.cn', 'vault.azure.cn'],
  AzureUSGovernment: ['login.microsoftonline.us', 'vault.usgovcloudapi.net'],
  AzureGermanCloud: ['login.microsoftonline.de', 'vault.microsoftazure.de'],
};
const API_VERSION = '7.4';

/** Reads secrets from Azure Key Vault with the client credentials of an application. */
export const azureKeyVault: SecretStore = (inputs, { call }) => {
  const secrets = new Map<string, Promise<string>>();
  const login = memoized(async () => {
    const [host, vault] = CLOUDS[textInput(inputs, 'cloud_name')] ?? [];
    if (!host || !vault) throw new LookupError('The cloud environment is not known.');
    const tenant = segmentOf(textInput(inputs, 'tenant'), 'tenant');
    return formLogin(call, `https://${host}/${tenant}/oauth2/v2.0/token`, {
      grant_type: 'client_credentials',
      client_id: textInput(inputs, 'client'),
      client_secret: textInput(inputs, 'secret'),
      scope: `https://${vault}/.default`,
    });
  });
  return {
    read({ secret_field: name = '', secret_version: version = '' }) {
      const parts = [
        segmentOf(name, 'secret_field'),
        ...(version === '' ? [] : [segmentOf(version, 'secret_version')]),
      ];
      const path = parts.join('/');
      return once(secrets, path, async () => {
        const token = await login();
        const url = `${baseOf(textInput(inputs, 'url'))}/secrets/${path}?api-version=${API_VERSION}`;
        const response = await call({ method: 'GET', url, headers: bearer(token) });
        return requiredField(objectIn(response), 'value', name);
      });
    },
  };
};
