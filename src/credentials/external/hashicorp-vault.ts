import { textInput } from '../types/inputs.js';
import {
  once,
  type SecretPlace,
  type SecretStore,
  pathSegments,
  segmentOf,
} from './secret-store.js';
import { requiredField } from './store-answer.js';
import { VaultSession } from './vault-session.js';

/** Reads key-value secrets from HashiCorp Vault, with both versions of the engine. */
export const hashicorpVault: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const secrets = new Map<string, Promise<Record<string, unknown>>>();
  const isVersioned = textInput(inputs, 'api_version') === 'v2';
  return {
    close: () => session.close(),
    async read(place) {
      const path = pathOf(place, isVersioned);
      const secret = await once(secrets, JSON.stringify([place.auth_path ?? '', path]), () =>
        session.data({ method: 'GET', path }, place),
      );
      const key = place.secret_key ?? '';
      const isInside = isVersioned || !Object.hasOwn(secret, key);
      return requiredField(isInside ? secret.data : secret, key, place.secret_path ?? '');
    },
  };
};

/** Lets the SSH engine of HashiCorp Vault sign public keys. Every read signs once. */
export const hashicorpVaultSsh: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const certificates = new Map<string, Promise<Record<string, unknown>>>();
  return {
    close: () => session.close(),
    async read(place) {
      const { secret_path: mount = '', role = '', public_key, valid_principals } = place;
      const path = [...pathSegments(mount), 'sign', segmentOf(role, 'role')].join('/');
      const body = JSON.stringify({
        public_key,
        ...(valid_principals ? { valid_principals } : {}),
      });
      const data = await once(certificates, JSON.stringify([place.auth_path, path, body]), () =>
        session.data({ method: 'POST', path, body }, place),
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
  }: SecretPlace,
  isVersioned: boolean,
): string {
  const parts = [...pathSegments(backend), ...pathSegments(path)];
  if (!isVersioned) return parts.join('/');
  const mounted = pathSegments(backend).length || 1;
  const query = version === '' ? '' : `?version=${encodeURIComponent(version)}`;
  return [...parts.slice(0, mounted), 'data', ...parts.slice(mounted)].join('/') + query;
}
