import { awsSecretsManager } from './aws-secrets-manager.js';
import { azureKeyVault } from './azure-key-vault.js';
import { centrifyVault } from './centrify.js';
import { conjur } from './conjur.js';
import { cyberArkCcp } from './cyberark-ccp.js';
import { devOpsSecretsVault, secretServer } from './delinea.js';
import { hashicorpVault, hashicorpVaultSsh } from './hashicorp-vault.js';
import type { SecretStore } from './secret-store.js';

/** Implementations of secret stores, by the namespace of their credential type. */
export const SECRET_STORES: ReadonlyMap<string, SecretStore> = new Map([
  ['aim', cyberArkCcp],
  ['aws_secretsmanager_credential', awsSecretsManager],
  ['azure_kv', azureKeyVault],
  ['centrify_vault_kv', centrifyVault],
  ['conjur', conjur],
  ['hashivault_kv', hashicorpVault],
  ['hashivault_ssh', hashicorpVaultSsh],
  ['hashivault-kv-oidc', hashicorpVault],
  ['hashivault-ssh-oidc', hashicorpVaultSsh],
  ['thycotic_dsv', devOpsSecretsVault],
  ['thycotic_tss', secretServer],
]);
