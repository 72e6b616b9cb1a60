import type { CredentialTypeDefinition, InputField } from './definition.js';

/** A shipped credential type; its namespace is what `kind` of a credential shows. */
export interface ManagedCredentialType extends CredentialTypeDefinition {
  namespace: string;
  managed: true;
  description: string;
}

/** A shipped type; without injectors where something else than an injector uses it. */
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

/** An input of one line. */
export const text = (id: string, label: string, helpText?: string): InputField => ({
  id,
  label,
  type: 'string',
  ...(helpText === undefined ? {} : { help_text: helpText }),
});

/** An input that decides nothing about where secrets are sent: who logs in, what is asked for. */
export const harmless = (field: InputField): InputField => ({ ...field, destination: false });

/** A secret that decides where the others are sent. */
export const destination = (field: InputField): InputField => ({ ...field, destination: true });

/** An input of one line that is stored encrypted and never shown. */
export const secret = (id: string, label: string, helpText?: string): InputField => ({
  ...text(id, label, helpText),
  secret: true,
});

/** A secret of several lines, such as a file. */
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

/** Certificates are checked unless somebody says otherwise. */
export const VERIFY_SSL: InputField = {
  id: 'verify_ssl',
  label: 'Verify SSL',
  type: 'boolean',
  default: true,
};
