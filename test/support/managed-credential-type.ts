import { MANAGED_CREDENTIAL_TYPES } from '../../src/credentials/types/managed-types.js';
import type { ManagedCredentialType } from '../../src/credentials/types/managed-type.js';

/** Returns a credential type that comes with the product, by its namespace. */
export const managedCredentialType = (namespace: string): ManagedCredentialType | undefined =>
  MANAGED_CREDENTIAL_TYPES.find((type) => type.namespace === namespace);
