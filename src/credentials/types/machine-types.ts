import type { InputField } from './definition.js';
import {
  harmless,
  managed,
  PASSPHRASE,
  PASSWORD,
  PRIVATE_KEY,
  secret,
  secretFile,
  text,
  USERNAME,
} from './managed-type.js';

const askable = (field: InputField): InputField => ({ ...field, ask_at_runtime: true });

const MACHINE = managed({
  name: 'Machine',
  kind: 'ssh',
  namespace: 'ssh',
  inputs: {
    fields: [
      USERNAME,
      askable(PASSWORD),
      PRIVATE_KEY,
      secretFile('ssh_public_key_data', 'Signed SSH Certificate'),
      askable(PASSPHRASE),
      harmless(
        text(
          'become_method',
          'Privilege Escalation Method',
          'How tasks become another user, like the --become-method option of Ansible.',
        ),
      ),
      harmless(text('become_username', 'Privilege Escalation Username')),
      askable(secret('become_password', 'Privilege Escalation Password')),
    ],
  },
});

const SOURCE_CONTROL = managed({
  name: 'Source Control',
  kind: 'scm',
  namespace: 'scm',
  inputs: {
    fields: [USERNAME, PASSWORD, { ...PRIVATE_KEY, label: 'SCM Private Key' }, PASSPHRASE],
  },
});

const VAULT = managed({
  name: 'Vault',
  kind: 'vault',
  namespace: 'vault',
  inputs: {
    fields: [
      askable(secret('vault_password', 'Vault Password')),
      {
        ...harmless(
          text(
            'vault_id',
            'Vault Identifier',
            'Distinguishes several vault passwords, like the --vault-id option of Ansible.',
          ),
        ),
        format: 'vault_id',
      },
    ],
    required: ['vault_password'],
  },
});

const NETWORK = managed({
  name: 'Network',
  kind: 'net',
  namespace: 'net',
  inputs: {
    fields: [
      USERNAME,
      PASSWORD,
      PRIVATE_KEY,
      PASSPHRASE,
      harmless({ id: 'authorize', label: 'Authorize', type: 'boolean' }),
      secret('authorize_password', 'Authorize Password'),
    ],
    dependencies: { authorize_password: ['authorize'] },
    required: ['username'],
  },
});

/** Credentials of hosts, repositories and vaults. Dedicated code uses them instead of injectors. */
export const MACHINE_TYPES = [MACHINE, SOURCE_CONTROL, VAULT, NETWORK];
