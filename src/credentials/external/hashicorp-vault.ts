import { textInput } from '../types/inputs.js';
import {
  once,
  type SecretLocation,
  type SecretStore,
  pathSegments,
  segmentOf,
} from './secret-store.js';
import { requiredField } from './store-response.js';
import { VaultSession } from './vault-session.js';

/** Reads key-value secrets from HashiCorp Vault, with both versions of the engine. */
export const hashicorpVault: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const secrets = new Map<string, Promise<Record<string, unknown>>>();
  const isVersioned = textInput(inputs, 'api_version') === 'v2';
  return {
    close: () => session.close(),
    async read(location) {
      const path = pathOf(location, isVersioned);
      const secret = await once(secrets, JSON.stringify([location.auth_path ?? '', path]), () =>
        session.data({ method: 'GET', path }, location),
      );
      const key = location.secret_key ?? '';
      const isInside = isVersioned || !Object.hasOwn(secret, key);
      return requiredField(isInside ? secret.data : secret, key, location.secret_path ?? '');
    },
  };
};

/** Signs public keys with the SSH engine of HashiCorp Vault. */
export const hashicorpVaultSsh: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const certificates = new Map<string, Promise<Record<string, unknown>>>();
  return {
    close: () => session.close(),
    async read(location) {
      const { secret_path: mount = '', role = '', public_key, valid_principals } = location;
      const path = [...pathSegments(mount), 'sign', segmentOf(role, 'role')].join('/');
      const body = JSON.stringify({
        public_key,
        ...(valid_principals ? { valid_principals } : {}),
      });
      const data = await once(certificates, JSON.stringify([location.auth_path, path, body]), () =>
        session.data({ method: 'POST', path, body }, location),
      );
      return requiredField(data, 'signed_key', mount);
    },
  };
};

/** Returns path and query of a secret below `/v1/`. */
function pathOf(
  {
    secret_backend: backend = '',
    secret_path: path = '',
    secret_version: version = '',
  }: SecretLocation,
  isVersioned: boolean,
): string {
  const parts = [...pathSegments(backend), ...pathSegments(path)];
  if (!isVersioned) return parts.join('/');
  const mounted = pathSegments(backend).length || 1;
  const query = version === '' ? '' : `?version=${encodeURIComponent(version)}`;
  return [...parts.slice(0, mounted), 'data', ...parts.slice(mounted)].join('/') + query;
}
