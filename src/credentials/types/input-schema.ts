import { isOneOf, isRecord } from '../../common/records.js';
import {
  CREDENTIAL_KIND_CHOICES,
  type CredentialKind,
  type DefinitionErrors,
  type InputField,
} from './definition.js';
import { injectorErrors } from './injector-schema.js';

/** Kinds of custom types. */
const CUSTOM_KINDS: readonly CredentialKind[] = ['cloud', 'net'];

const FORMATS = ['ssh_private_key', 'url', 'vault_id'] as const;
const INPUT_KEYS = ['fields', 'required', 'dependencies'];
const FIELD_KEYS: Readonly<Record<keyof InputField, (value: unknown) => boolean>> = {
  id: isText,
  label: isText,
  type: (value) => value === 'string' || value === 'boolean',
  format: (value) => isOneOf(FORMATS, value),
  choices: (value) => isTextList(value) && value.length > 0 && new Set(value).size === value.length,
  secret: (value) => typeof value === 'boolean',
  multiline: (value) => typeof value === 'boolean',
  ask_at_runtime: (value) => typeof value === 'boolean',
  default: (value) => typeof value === 'string' || typeof value === 'boolean',
  help_text: isText,
  destination: (value) => typeof value === 'boolean',
};

/** Options that are valid for text inputs only. */
const TEXT_ONLY = ['choices', 'multiline', 'format', 'secret'] as const;

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Names with another meaning in templates. `__proto__` would not become an own property. */
const RESERVED_IDS = new Set([
  'tower',
  '__proto__',
  'true',
  'false',
  'none',
  'True',
  'False',
  'None',
]);

const MAX_FIELDS = 100;
const MAX_TEXT = 4096;

/** Custom credential type as sent by a client. */
export interface TypeDraft {
  kind: unknown;
  inputs: unknown;
  injectors: unknown;
}

/**
 * Validates the definition of a custom credential type. Never throws: returns errors by `kind`, `inputs`
 * and `injectors`, or an empty object if the draft can be stored after `normalizeInputs`.
 */
export function validateTypeDefinition({ kind, inputs, injectors }: TypeDraft): DefinitionErrors {
  const errors: DefinitionErrors = {};
  const report = (field: string, texts: string[]) => {
    if (texts.length > 0) errors[field] = texts;
  };
  report('kind', kindErrors(kind));
  report('inputs', inputsErrors(inputs));
  // Templates refer to inputs, so with invalid inputs every template would also have errors.
  if (!errors['inputs']) report('injectors', injectorErrors(injectors, fieldsOf(inputs)));
  return errors;
}

/** Returns valid `inputs` with the only default: a field without a type is a text. */
export function normalizeInputs(inputs: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(inputs['fields'])) return inputs;
  return { ...inputs, fields: fieldsOf(inputs) };
}

function kindErrors(kind: unknown): string[] {
  if (!CREDENTIAL_KIND_CHOICES.some(([name]) => name === kind)) {
    return [`${JSON.stringify(kind) ?? 'null'} is not a valid choice.`];
  }
  const isCustom = CUSTOM_KINDS.some((custom) => custom === kind);
  return isCustom ? [] : [`Must be 'cloud' or 'net', not ${String(kind)}`];
}

function inputsErrors(inputs: unknown): string[] {
  if (!isRecord(inputs)) return ['Must be an object.'];
  const errors = unknownKeyErrors(inputs, INPUT_KEYS);
  const fields = inputs['fields'] ?? [];
  if (!Array.isArray(fields)) return [...errors, "'fields' must be a list."];
  if (fields.length > MAX_FIELDS)
    return [...errors, `'fields' may not have more than ${MAX_FIELDS} entries.`];
  errors.push(...fields.flatMap(fieldErrors));
  if (errors.length > 0) return errors;
  const ids = fields.map((field: { id: string }) => field.id);
  const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  return [
    ...repeated.map((id) => `${id} defined twice`),
    ...requiredErrors(inputs['required'] ?? [], ids),
    ...dependencyErrors(inputs['dependencies'] ?? {}, ids),
  ];
}

function fieldErrors(field: unknown, index: number): string[] {
  const path = `fields[${index}]`;
  if (!isRecord(field)) return [`${path} must be an object.`];
  const id = field['id'];
  const missing = ['id', 'label'].filter((key) => !Object.hasOwn(field, key));
  const wrong = Object.entries(FIELD_KEYS)
    .filter(([key, accepts]) => Object.hasOwn(field, key) && !accepts(field[key]))
    .map(([key]) => `${path}: '${key}' is not valid.`);
  const errors = [
    ...missing.map((key) => `${path}: '${key}' is a required property`),
    ...unknownKeyErrors(field, Object.keys(FIELD_KEYS)),
    ...wrong,
  ];
  if (errors.length > 0 || typeof id !== 'string') return errors;
  return [...idErrors(id), ...combinationErrors(id, field)];
}

function idErrors(id: string): string[] {
  if (RESERVED_IDS.has(id)) return [`"${id}" is a reserved field name`];
  return IDENTIFIER.test(id) ? [] : [`'${id}' is not a valid identifier.`];
}

function combinationErrors(id: string, field: Record<string, unknown>): string[] {
  const type = field['type'] ?? 'string';
  const errors = TEXT_ONLY.filter((key) => type !== 'string' && Object.hasOwn(field, key)).map(
    (key) => `${key} not allowed for ${String(type)} type (${id})`,
  );
  if (!Object.hasOwn(field, 'default')) return errors;
  const value = field['default'];
  const { choices } = field;
  if (typeof value !== type) errors.push(`the default of ${id} is not a ${String(type)}`);
  else if (Array.isArray(choices) && !choices.includes(value)) {
    errors.push(`the default of ${id} is not one of its choices`);
  }
  return errors;
}

function requiredErrors(required: unknown, ids: readonly string[]): string[] {
  if (!isTextList(required)) return ["'required' must be a list of field ids."];
  return undeclared(required, ids).map((id) => `'required' names an undefined field (${id})`);
}

function dependencyErrors(dependencies: unknown, ids: readonly string[]): string[] {
  if (!isRecord(dependencies) || !Object.values(dependencies).every(isTextList)) {
    return ["'dependencies' must map field ids to lists of field ids."];
  }
  const used = [...Object.keys(dependencies), ...Object.values(dependencies).flat().map(String)];
  return undeclared(used, ids).map((id) => `'dependencies' names an undefined field (${id})`);
}

function undeclared(used: readonly string[], ids: readonly string[]): string[] {
  return [...new Set(used)].filter((id) => !ids.includes(id));
}

function unknownKeyErrors(value: Record<string, unknown>, known: readonly string[]): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `Additional properties are not allowed ('${key}' was unexpected)`);
}

function fieldsOf(inputs: unknown): InputField[] {
  const fields = isRecord(inputs) ? inputs['fields'] : undefined;
  if (!Array.isArray(fields)) return [];
  return fields.map((field: InputField) => ({ ...field, type: field.type ?? 'string' }));
}

function isText(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !value.includes('\0')
  );
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
