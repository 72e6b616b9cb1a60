import { holdsPassword } from '../../code-hosts/git-source.js';
import { isRecord, mapValues } from '../../common/records.js';
import { Invalid, type FieldErrors } from '../../common/errors/errors.js';
import {
  ASK,
  inputField,
  type CredentialInputs,
  type CredentialTypeDefinition,
  type InputField,
} from './definition.js';
import { checkSshKey, isEncryptedKey, repairSshKey } from './ssh-key.js';
import { tooLong } from '../../common/fields/fault-texts.js';
import { ENCRYPTED, MAX_URL_LENGTH } from '../../common/fields/text.js';

/** Maximum length of one input in characters; a large private key has about 16,000. */
export const MAX_INPUT_LENGTH = 131_072;

/** Valid inputs (with secrets in clear text, for the caller to seal), or validation errors. */
export interface CheckedInputs {
  /**
   * Errors under `inputs`: messages by input, or a list of messages that concern no input of the type.
   */
  errors: FieldErrors;
  inputs: CredentialInputs;
}

/** Properties of a change of stored inputs. */
interface ChangeOptions {
  /** True if the caller may send the stored secrets to another destination. */
  mayRedirect?: boolean;
  /** Type of the credential before the change. */
  former?: CredentialTypeDefinition;
}

/**
 * Validates the `inputs` of a credential against its type. `sent` replaces the stored inputs as a
 * whole. A secret sent as `$encrypted$` keeps its value from `previous` (decrypted; omitted on creation),
 * unless the change would send the secret to another destination. Null values are omitted. Missing
 * required inputs are not an error here: using the credential fails.
 */
export function validateInputs(
  type: CredentialTypeDefinition,
  sent: unknown,
  previous: CredentialInputs = {},
  { mayRedirect = false, former = type }: ChangeOptions = {},
): CheckedInputs {
  if (!isRecord(sent)) return { errors: { inputs: ['Must be an object.'] }, inputs: {} };
  const errors = new Map<string, string>();
  const values: [string, string | boolean][] = [];
  for (const [id, value] of Object.entries(sent)) {
    const field = inputField(type, id);
    if (!field) errors.set(id, `'${id}' was unexpected`);
    else if (value !== null) {
      const result = checkValue(field, value, type, previous);
      if ('error' in result) errors.set(id, result.error);
      else values.push([id, result.value]);
    }
  }
  const inputs: CredentialInputs = Object.fromEntries(values);
  const changed = mayRedirect ? [] : changedDestinations([type, former], inputs, previous);
  for (const id of changed.length > 0 ? secretInputs(type) : []) {
    if (sent[id] !== ENCRYPTED || previous[id] === undefined) continue;
    errors.set(id, `${id} must be entered again: ${changed.join(', ')} decides where it is sent.`);
  }
  if (errors.size === 0)
    for (const [id, text] of relationErrors(type, inputs)) errors.set(id, text);
  if (errors.size === 0) return { errors: {}, inputs };
  const areAllUndeclared = [...errors.keys()].every((id) => !inputField(type, id));
  const entries = [...errors].map(([id, text]): [string, string[]] => [id, [text]]);
  return {
    errors: { inputs: areAllUndeclared ? [...errors.values()] : Object.fromEntries(entries) },
    inputs: {},
  };
}

/** Returns the checked inputs of a request. @throws Invalid naming the invalid inputs */
export function validInputs(...sent: Parameters<typeof validateInputs>): CredentialInputs {
  const { errors, inputs } = validateInputs(...sent);
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  return inputs;
}

/** Returns true if a change of the input changes the destination of the credential's secrets. */
export const isDestination = ({ destination, secret }: InputField): boolean =>
  destination ?? secret !== true;

/**
 * Returns the ids of the changed inputs that change the destination of the credential's secrets. An input that
 * only one of the types has changes it too, because an empty input can mean a destination of the type.
 *
 * @param type type after the change
 * @param former type before the change
 */
export function changedDestinations(
  [type, former]: readonly [type: CredentialTypeDefinition, former: CredentialTypeDefinition],
  inputs: CredentialInputs,
  previous: CredentialInputs,
): string[] {
  const ids = [type, former].flatMap(({ inputs: { fields = [] } }) =>
    fields.filter(isDestination).map(({ id }) => id),
  );
  return [...new Set(ids)].filter(
    (id) => effectiveInput(type, id, inputs) !== effectiveInput(former, id, previous),
  );
}

/** Returns an input or its default; undefined if the type has no such input. */
function effectiveInput(
  type: CredentialTypeDefinition,
  id: string,
  inputs: CredentialInputs,
): string | boolean | undefined {
  const field = inputField(type, id);
  return field && (inputs[id] ?? field.default ?? (field.type === 'boolean' ? false : ''));
}

/** Returns true for stores without a stored secret, which receive the identities of runs that use them. */
export const receivesIdentities = (type: CredentialTypeDefinition): boolean =>
  type.kind === 'external' && secretInputs(type).length === 0;

/** Returns the ids of the inputs that are stored sealed and never shown. */
export function secretInputs(type: CredentialTypeDefinition): string[] {
  return (type.inputs.fields ?? []).filter(({ secret }) => secret === true).map(({ id }) => id);
}

/**
 * Masks stored or decrypted inputs for the API: secrets become `$encrypted$`. Empty secrets and `ASK`
 * reveal nothing and are not masked. Undeclared inputs are masked too.
 */
export function maskInputs(
  type: CredentialTypeDefinition,
  inputs: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return mapValues(inputs, (value, id) => {
    const field = inputField(type, id);
    return (field && field.secret !== true) || isEmptyOrAsk(field, value) ? value : ENCRYPTED;
  });
}

/**
 * Returns true for an empty input, and for an input that is prompted for at launch: neither is a secret.
 */
export const isEmptyOrAsk = (field: InputField | undefined, value: unknown): boolean =>
  value === '' || (value === ASK && field?.ask_at_runtime === true);

/**
 * Returns the names of the passwords that a launch must provide for this credential: `ssh_password`,
 * `become_password`, `ssh_key_unlock`, `vault_password` or `vault_password.<id>`.
 */
export function passwordsNeeded(
  type: CredentialTypeDefinition,
  inputs: CredentialInputs,
): string[] {
  if (type.kind === 'vault') {
    return inputs['vault_password'] === ASK ? [vaultPasswordName(inputs)] : [];
  }
  if (type.kind !== 'ssh') return [];
  return [
    ...(inputs['password'] === ASK ? ['ssh_password'] : []),
    ...(inputs['become_password'] === ASK ? ['become_password'] : []),
    // The passphrase decides, because the key can be sealed here. Inputs cannot have a plain key and a
    // passphrase.
    ...(inputs['ssh_key_unlock'] === ASK ? ['ssh_key_unlock'] : []),
  ];
}

/** Returns the name of a vault credential's password in a launch. */
export function vaultPasswordName(inputs: CredentialInputs): string {
  const id = textInput(inputs, 'vault_id');
  return id === '' ? 'vault_password' : `vault_password.${id}`;
}

/**
 * Returns the required inputs without a value or a default, without which the credential cannot be used.
 */
export function missingInputs(type: CredentialTypeDefinition, inputs: CredentialInputs): string[] {
  return (type.inputs.required ?? []).filter((id) => {
    const value = inputs[id] ?? inputField(type, id)?.default;
    return value === undefined || value === '';
  });
}

/** Returns a text input; empty if it is missing or not a text. */
export function textInput(inputs: CredentialInputs, id: string): string {
  const value = inputs[id];
  return typeof value === 'string' ? value : '';
}

type Checked = { value: string | boolean } | { error: string };

function checkValue(
  field: InputField,
  value: unknown,
  type: CredentialTypeDefinition,
  previous: CredentialInputs,
): Checked {
  if (value === ENCRYPTED) {
    const previousValue = field.secret === true ? previous[field.id] : undefined;
    return previousValue === undefined
      ? { error: `${ENCRYPTED} is a reserved keyword, and cannot be used for ${field.id}.` }
      : { value: previousValue };
  }
  if (field.type === 'boolean') return checkBoolean(value);
  if (typeof value !== 'string') return { error: 'Not a valid string.' };
  const fault = textFault(field, value, type.managed);
  if (fault !== null) return { error: fault };
  const isKey = field.format === 'ssh_private_key' && value !== '' && value !== ASK;
  return { value: isKey ? repairSshKey(value) : value };
}

/** Forms in which clients send booleans (JSON, numbers and texts). */
const BOOLEANS = new Map<unknown, boolean>([
  [true, true],
  [1, true],
  ['true', true],
  [false, false],
  [0, false],
  ['false', false],
]);

function checkBoolean(value: unknown): Checked {
  const known = BOOLEANS.get(value);
  return known === undefined ? { error: 'Must be a valid boolean.' } : { value: known };
}

function textFault(field: InputField, text: string, isManaged: boolean): string | null {
  const maxLength = field.format === 'url' ? MAX_URL_LENGTH : MAX_INPUT_LENGTH;
  if (text.length > maxLength) return tooLong(maxLength);
  if (/[\0\p{Cs}]/u.test(text)) return 'Null characters and invalid Unicode are not allowed.';
  if (isEmptyOrAsk(field, text)) return null;
  // These texts are entered at prompts, or written to options and headers, where a second line would be
  // read as another input.
  if (isManaged && field.multiline !== true && /[\r\n]/.test(text)) return 'Must be a single line.';
  // Custom types can have inputs whose texts only resemble addresses.
  const isShown = field.secret !== true && (isManaged || field.format === 'url');
  if (isShown && text.includes('://') && holdsPassword(text)) {
    return 'Enter the password in its own input, not in the URL.';
  }
  if (field.choices && !field.choices.includes(text)) {
    return field.secret === true ? 'Not a valid choice.' : `"${text}" is not a valid choice.`;
  }
  return formatFault(field, text);
}

function formatFault({ format }: InputField, text: string): string | null {
  if (format === 'ssh_private_key') return checkSshKey(text).fault;
  if (format === 'url') return isHttpUrl(text) ? null : 'Enter a valid URL.';
  // Ansible splits `--vault-id` at the @, and interprets a leading dash as another option.
  if (format === 'vault_id' && /^-|[@\s]/.test(text)) {
    return '"@", spaces and a leading "-" are not allowed.';
  }
  return null;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

const UNLOCK = 'ssh_key_unlock';

type Fault = [id: string, text: string];

function relationErrors(type: CredentialTypeDefinition, inputs: CredentialInputs): Fault[] {
  const dependencies = Object.entries(type.inputs.dependencies ?? {});
  const errors = dependencies.flatMap(([id, needed]): Fault[] => {
    const missing = isSet(inputs[id]) ? needed.find((other) => !isSet(inputs[other])) : undefined;
    return missing === undefined ? [] : [[id, `cannot be set unless "${missing}" is set.`]];
  });
  return [...errors, ...unlockErrors(type, inputs)];
}

function unlockErrors(type: CredentialTypeDefinition, inputs: CredentialInputs): Fault[] {
  const hasBoth = inputField(type, 'ssh_key_data') && inputField(type, UNLOCK);
  const key = textInput(inputs, 'ssh_key_data');
  if (!hasBoth || key === '') return [];
  const unlock = textInput(inputs, UNLOCK);
  if (isEncryptedKey(key)) {
    return unlock === '' ? [[UNLOCK, 'must be set when SSH key is encrypted.']] : [];
  }
  return unlock === '' ? [] : [[UNLOCK, 'should not be set when SSH key is not encrypted.']];
}

function isSet(value: string | boolean | undefined): boolean {
  return value !== undefined && value !== '' && value !== false;
}
