import { isSealed, rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { mapValues } from '../common/records.js';
import {
  inputField,
  type CredentialInputs,
  type CredentialTypeDefinition,
} from './types/definition.js';
import { isEmptyOrAsk, secretInputs } from './types/inputs.js';

const contextOf = (credentialId: number, input: string): string =>
  rowContext('credentials', credentialId, input);

/**
 * Returns inputs for storage. Each secret is sealed for its credential and input name, so that no
 * other row or input can open the secret. Empty secrets and `ASK` are stored unsealed.
 */
export function sealInputs(
  box: SecretBox,
  credentialId: number,
  type: CredentialTypeDefinition,
  inputs: CredentialInputs,
): CredentialInputs {
  const secrets = new Set(secretInputs(type));
  return mapValues(inputs, (value, id) =>
    !secrets.has(id) || typeof value !== 'string' || isEmptyOrAsk(inputField(type, id), value)
      ? value
      : box.seal(value, contextOf(credentialId, id)),
  );
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
  return mapValues(stored, (value, id) =>
    typeof value === 'string' && isSealed(value)
      ? box.open(value, contextOf(credentialId, id))
      : value,
  );
}

/** Returns stored inputs with `$encrypted$` in place of the sealed secrets. */
export const maskSealed = (stored: CredentialInputs): CredentialInputs =>
  mapValues(stored, (value) => (typeof value === 'string' && isSealed(value) ? ENCRYPTED : value));

/**
 * Returns the ids of inputs whose text has the format of sealed texts. A request with such a text
 * must be rejected, because the text would later be opened as a sealed secret.
 */
export function sealedInputs(inputs: CredentialInputs): string[] {
  return Object.entries(inputs)
    .filter(([, value]) => typeof value === 'string' && isSealed(value))
    .map(([id]) => id);
}
