import type { CredentialTypeDefinition } from '../types/definition.js';
import { cyberArkCcp } from './cyberark-ccp.js';
import { hashicorpVault } from './hashicorp-vault.js';
import { LookupError } from './lookup-error.js';
import type { SecretStore } from './secret-store.js';

/** Supported stores, by the namespace of their credential type. */
const SECRET_STORES: ReadonlyMap<string, SecretStore> = new Map([
  ['hashivault_kv', hashicorpVault],
  ['aim', cyberArkCcp],
]);

/**
 * Returns the implementation of a store.
 *
 * @throws LookupError for types whose credentials can be stored, but whose values cannot be fetched
 */
export function secretStore({ name, namespace }: CredentialTypeDefinition): SecretStore {
  const store = SECRET_STORES.get(namespace ?? '');
  if (!store) throw new LookupError(`Values of the type "${name}" cannot be fetched yet.`);
  return store;
}
