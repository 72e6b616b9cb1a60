import { isSealed, rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import {
  ASK,
  inputField,
  type CredentialInputs,
  type CredentialTypeDefinition,
} from './types/definition.js';
import { secretInputs } from './types/inputs.js';
import { ENCRYPTED } from '../common/fields/text.js';

const place = (credentialId: number, input: string): string =>
  rowContext('credentials', credentialId, input);

/**
 * Inputs as they are stored: each secret sealed for its credential and name, so that none opens
 * anywhere else. Empty secrets and `ASK` hold nothing and stay readable.
 */
export function sealInputs(
  box: SecretBox,
  credentialId: number,
  type: CredentialTypeDefinition,
  inputs: CredentialInputs,
): CredentialInputs {
  const secrets = new Set(secretInputs(type));
  const stored = ([id, value]: [string, string | boolean]): [string, string | boolean] =>
    !secrets.has(id) || typeof value !== 'string' || isEmptySecret(type, id, value)
      ? [id, value]
      : [id, box.seal(value, place(credentialId, id))];
  return Object.fromEntries(Object.entries(inputs).map(stored));
}

/**
 * Stored inputs with their secrets in clear.
 *
 * @throws UnsealError when a secret was sealed by an unknown key, or moved here from another row
 */
export function openInputs(
  box: SecretBox,
  credentialId: number,
  stored: CredentialInputs,
): CredentialInputs {
  return Object.fromEntries(
    Object.entries(stored).map(([id, value]) =>
      typeof value === 'string' && isSealed(value)
        ? [id, box.open(value, place(credentialId, id))]
        : [id, value],
    ),
  );
}

/** Stored inputs with the word that keeps them in place of the sealed ones. */
export const maskSealed = (stored: CredentialInputs): CredentialInputs => ({
  ...stored,
  ...Object.fromEntries(sealedInputs(stored).map((id) => [id, ENCRYPTED])),
});

/**
 * Ids of inputs whose text is sealed, or reads like it: given from outside and kept, it would later
 * be opened as a sealed one.
 */
export function sealedInputs(inputs: CredentialInputs): string[] {
  return Object.entries(inputs)
    .filter(([, value]) => typeof value === 'string' && isSealed(value))
    .map(([id]) => id);
}

function isEmptySecret(type: CredentialTypeDefinition, id: string, value: string): boolean {
  return value === '' || (value === ASK && inputField(type, id)?.ask_at_runtime === true);
}
