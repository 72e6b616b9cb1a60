import { isRecord } from '../../common/records.js';
import type { CredentialTypeDefinition, DefinitionErrors, InputField } from './definition.js';
import { MAX_INPUT_LENGTH } from './inputs.js';

/** Location of a secret in a store, or validation errors, by key. */
export interface CheckedMetadata {
  faults: DefinitionErrors;
  location: Record<string, string>;
}

/** Validates the `metadata` of an input source against the type of its store. Null means not given. */
export function checkMetadata(type: CredentialTypeDefinition, metadata: unknown): CheckedMetadata {
  const fields = type.inputs.metadata ?? [];
  const sent = isRecord(metadata) ? metadata : {};
  const faults: [string, string[]][] = [];
  const location: [string, string][] = [];
  for (const [id, value] of Object.entries(sent)) {
    const field = fields.find((declared) => declared.id === id);
    const fault = field ? faultOf(field, value) : `'${id}' was unexpected`;
    if (fault !== null) faults.push([id, [fault]]);
    else if (typeof value === 'string') location.push([id, value]);
  }
  for (const { id, default: defaultValue } of fields) {
    const isMissing = (sent[id] ?? defaultValue ?? '') === '';
    if (isMissing && type.inputs.required?.includes(id)) {
      faults.push([id, [`required for ${type.name}`]]);
    }
  }
  return { faults: Object.fromEntries(faults), location: Object.fromEntries(location) };
}

function faultOf({ choices }: InputField, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') return 'Not a valid string.';
  if (value.length > MAX_INPUT_LENGTH) {
    return `Ensure this field has no more than ${MAX_INPUT_LENGTH} characters.`;
  }
  if (/[\0\p{Cs}]/u.test(value)) return 'Null characters and invalid Unicode are not allowed.';
  if (choices && value !== '' && !choices.includes(value))
    return `"${value}" is not a valid choice.`;
  return null;
}
