import { textInput } from '../types/inputs.js';
import { awsSecretsManager } from './aws-secrets-manager.js';
import { azureKeyVault } from './azure-key-vault.js';
import { conjur, cyberArkCcp } from './cyberark.js';
import { centrifyVault, devOpsSecretsVault, secretServer } from './delinea.js';
import { githubApp } from './github-app.js';
import { hashicorpVault, hashicorpVaultSsh } from './hashicorp-vault.js';
import { type SecretStore, memoized } from './secret-store.js';

/** Returns the token that identifies a run, for its playbook. */
const runIdentityToken: SecretStore = (inputs, { runToken }) => ({
  read: memoized(() => runToken(textInput(inputs, 'audience'), 'run')),
});

/**
 * Implementations of secret stores, by the namespace of their credential type. Credentials of the
 * last two types get a token when they are used (`issued-tokens.ts`).
 */
export const SECRET_STORES: ReadonlyMap<string, SecretStore> = new Map([
  ['aim', cyberArkCcp],
  ['aws_secretsmanager_credential', awsSecretsManager],
  ['azure_kv', azureKeyVault],
  ['centrify_vault_kv', centrifyVault],
  ['conjur', conjur],
  ['github_app', githubApp],
  ['hashivault_kv', hashicorpVault],
  ['hashivault_ssh', hashicorpVaultSsh],
  ['hashivault-kv-oidc', hashicorpVault],
  ['hashivault-ssh-oidc', hashicorpVaultSsh],
  ['thycotic_dsv', devOpsSecretsVault],
  ['thycotic_tss', secretServer],
  ['github_app_token', githubApp],
  ['run_identity_token', runIdentityToken],
]);
