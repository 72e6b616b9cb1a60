import { isSealed, rowContext, UnsealError, type SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { mapValues, memberOf } from '../common/records.js';
import {
  inputField,
  type CredentialInputs,
  type CredentialTypeDefinition,
} from './types/definition.js';
import { isEmptyOrAsk, secretInputs } from './types/inputs.js';

const NOT_DECRYPTABLE = 'The stored secret cannot be decrypted. Enter the secret again.';

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

/**
 * Returns the stored inputs that a request changes, with secrets in clear text. A secret that cannot be
 * decrypted is omitted if the request replaces the secret, so that users can enter the secret again.
 *
 * @throws Invalid naming the secrets that the request keeps and that cannot be decrypted
 */
export function openPrevious(
  box: SecretBox,
  credentialId: number,
  stored: CredentialInputs,
  sent: unknown,
): CredentialInputs {
  const opened: CredentialInputs[] = [];
  const errors: FieldErrors = {};
  for (const [id, value] of Object.entries(stored)) {
    try {
      opened.push(openInputs(box, credentialId, { [id]: value }));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      if (memberOf(sent, id) === ENCRYPTED) errors[id] = [NOT_DECRYPTABLE];
    }
  }
  if (Object.keys(errors).length > 0) throw new Invalid({ inputs: errors });
  return Object.fromEntries(opened.flatMap((input) => Object.entries(input)));
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
