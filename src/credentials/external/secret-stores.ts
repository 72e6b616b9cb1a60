import type { CredentialTypeDefinition } from '../types/definition.js';
import { cyberArkCcp } from './cyberark-ccp.js';
import { hashicorpVault } from './hashicorp-vault.js';
import { LookupError } from './lookup-error.js';
import type { SecretStore } from './secret-store.js';

/** The stores that values are fetched from, by the namespace of their credential type. */
const SECRET_STORES: ReadonlyMap<string, SecretStore> = new Map([
  ['hashivault_kv', hashicorpVault],
  ['aim', cyberArkCcp],
]);

/** How a store is read. @throws LookupError for those that can be kept, but not read */
export function secretStore({ name, namespace }: CredentialTypeDefinition): SecretStore {
  const store = SECRET_STORES.get(namespace ?? '');
  if (!store) throw new LookupError(`Values of the type "${name}" cannot be fetched yet.`);
  return store;
}
