import type { CredentialTypeDefinition, InputField } from './definition.js';

/** Shipped credential type. `kind` of a credential is the namespace of its type. */
export interface ManagedCredentialType extends CredentialTypeDefinition {
  namespace: string;
  managed: true;
  description: string;
}

/** Creates a shipped type. Types that dedicated code uses have no injectors. */
export const managed = ({
  injectors = {},
  ...type
}: Omit<ManagedCredentialType, 'managed' | 'injectors' | 'description'> &
  Partial<Pick<ManagedCredentialType, 'injectors'>>): ManagedCredentialType => ({
  ...type,
  managed: true,
  description: '',
  injectors,
});

/** Creates a single-line input. */
export const text = (id: string, label: string, helpText?: string): InputField => ({
  id,
  label,
  type: 'string',
  ...(helpText === undefined ? {} : { help_text: helpText }),
});

/** Marks an input that does not affect where secrets are sent, such as a user name. */
export const harmless = (field: InputField): InputField => ({ ...field, destination: false });

/** Marks a secret that decides where the other secrets are sent. */
export const destination = (field: InputField): InputField => ({ ...field, destination: true });

/** Creates a single-line input that is stored encrypted and never shown. */
export const secret = (id: string, label: string, helpText?: string): InputField => ({
  ...text(id, label, helpText),
  secret: true,
});

/** Creates a multi-line secret, such as a file. */
export const secretFile = (id: string, label: string, helpText?: string): InputField => ({
  ...secret(id, label, helpText),
  multiline: true,
});

export const USERNAME: InputField = harmless(text('username', 'Username'));
export const PASSWORD: InputField = secret('password', 'Password');
export const PRIVATE_KEY: InputField = {
  ...secretFile('ssh_key_data', 'SSH Private Key'),
  format: 'ssh_private_key',
};
export const PASSPHRASE: InputField = secret('ssh_key_unlock', 'Private Key Passphrase');

/** Input for verifying certificates; true by default. */
export const VERIFY_SSL: InputField = {
  id: 'verify_ssl',
  label: 'Verify SSL',
  type: 'boolean',
  default: true,
};
