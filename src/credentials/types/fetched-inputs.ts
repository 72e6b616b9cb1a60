import { LookupError } from '../external/lookup-error.js';
import type { CredentialTypeDefinition, InputField, TypedInputs } from './definition.js';
import { inputField } from './definition.js';
import { validateInputs } from './inputs.js';

/**
 * Returns a credential with a fetched value for one of its inputs. The input becomes a secret, so
 * that the value is hidden even if the type does not declare the input as a secret.
 *
 * @returns an error without the value, if the value is not valid for the input
 */
export function withFetched<Credential extends TypedInputs>(
  credential: Credential,
  id: string,
  value: string,
): Credential | LookupError {
  const field = inputField(credential.type, id);
  if (!field) return new LookupError('the type of the credential has no such input any more.');
  const type = withSecret(credential.type, id);
  const { errors, inputs } = validateInputs(
    {
      ...type,
      inputs: { fields: type.inputs.fields?.filter((declared) => declared.id === id) ?? [] },
    },
    { [id]: asInput(field, value) },
  );
  if (Object.keys(errors).length > 0) {
    return new LookupError('the value in the store is not valid for this input.');
  }
  return { ...credential, type, inputs: { ...credential.inputs, ...inputs } };
}

/**
 * Removes the trailing line break of single-line texts, which tools add when they store a secret.
 */
const asInput = ({ type, multiline }: InputField, value: string): string =>
  type === 'string' && multiline !== true ? value.replace(/\r?\n$/, '') : value;

const withSecret = (type: CredentialTypeDefinition, id: string): CredentialTypeDefinition => ({
  ...type,
  inputs: {
    ...type.inputs,
    fields: (type.inputs.fields ?? []).map((field) =>
      field.id === id && field.type === 'string' ? { ...field, secret: true } : field,
    ),
  },
});
