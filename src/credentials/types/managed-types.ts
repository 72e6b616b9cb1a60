import { CLOUD_TYPES } from './cloud-types.js';
import { CONTENT_TYPES } from './content-types.js';
import { EXTERNAL_TYPES } from './external-types.js';
import { MACHINE_TYPES } from './machine-types.js';
import type { ManagedCredentialType } from './managed-type.js';
import { PLATFORM_TYPES } from './platform-types.js';

/** Credential types of every installation (docs/contract/resources.md#shipped-credential-types). */
export const MANAGED_CREDENTIAL_TYPES: readonly ManagedCredentialType[] = [
  ...MACHINE_TYPES,
  ...CLOUD_TYPES,
  ...PLATFORM_TYPES,
  ...CONTENT_TYPES,
  ...EXTERNAL_TYPES,
];
