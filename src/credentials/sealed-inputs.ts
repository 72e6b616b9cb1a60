import { isSealed, rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import {
  ASK,
  inputField,
  type CredentialInputs,
  type CredentialTypeDefinition,
} from './types/definition.js';
import { secretInputs } from './types/inputs.js';
import { ENCRYPTED } from '../common/fields/text.js';

const contextOf = (credentialId: number, input: string): string =>
  rowContext('credentials', credentialId, input);

/**
 * Returns inputs for storage: each secret is sealed for its credential and input name, so that it opens
 * nowhere else. Empty secrets and `ASK` contain no secret and are stored unsealed.
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
      : [id, box.seal(value, contextOf(credentialId, id))];
  return Object.fromEntries(Object.entries(inputs).map(stored));
}

/**
 * Returns stored inputs with secrets in clear text.
 *
 * @throws UnsealError if a secret was sealed with an unknown key, or moved from another row
 */
export function openInputs(
  box: SecretBox,
  credentialId: number,
  stored: CredentialInputs,
): CredentialInputs {
  return Object.fromEntries(
    Object.entries(stored).map(([id, value]) =>
      typeof value === 'string' && isSealed(value)
        ? [id, box.open(value, contextOf(credentialId, id))]
        : [id, value],
    ),
  );
}

/** Returns stored inputs with `$encrypted$` in place of the sealed ones. */
export const maskSealed = (stored: CredentialInputs): CredentialInputs => ({
  ...stored,
  ...Object.fromEntries(sealedInputs(stored).map((id) => [id, ENCRYPTED])),
});

/**
 * Returns the ids of inputs whose text is sealed or has that format. Such a text from outside must be
 * rejected: it would later be opened as a sealed one.
 */
export function sealedInputs(inputs: CredentialInputs): string[] {
  return Object.entries(inputs)
    .filter(([, value]) => typeof value === 'string' && isSealed(value))
    .map(([id]) => id);
}

function isEmptySecret(type: CredentialTypeDefinition, id: string, value: string): boolean {
  return value === '' || (value === ASK && inputField(type, id)?.ask_at_runtime === true);
}
