import type { JsonSchema, JsonSchemas } from './json-schema.js';
import { hasValue } from './column-types.js';
import type { Field, FieldOptions } from './field.js';
import { labelOf } from './label.js';

/**
 * OPTIONS `type` of a field (docs/contract/conventions.md#options); the command-line client derives
 * its flags from it.
 */
function typeOf(field: Field): string {
  if (field.choices.length > 0) return 'choice';
  if (field.kind === 'json' && field.target) return 'list_of_ids';
  switch (field.kind) {
    case 'string':
    case 'text':
    case 'secret':
      return 'string';
    case 'variables':
      return 'json';
    case 'float':
      return 'decimal';
    case 'reference':
      return 'id';
    default:
      return field.kind;
  }
}

/** Replaces the type that OPTIONS name for a field: clients send a `string` as their user wrote it. */
export const describedAs = (type: 'string' | 'json' | 'date'): Pick<FieldOptions, 'options'> => ({
  options: () => ({ type }),
});

/** Field metadata of OPTIONS for one method (docs/contract/conventions.md#options). */
export function fieldOptions(
  fields: readonly Field[],
  method: 'GET' | 'POST' | 'PUT',
): Record<string, object> {
  const shown = fields.filter((field) => {
    if (field.internal || field.hidden) return false;
    return method === 'GET' ? !field.writeOnly : !field.readOnly;
  });
  return Object.fromEntries(shown.map((field) => [field.name, describe(field, method)]));
}

function describe(field: Field, method: string): object {
  const reading = method === 'GET';
  return {
    type: typeOf(field),
    label: field.label,
    ...(field.help ? { help_text: field.help } : {}),
    ...(reading ? {} : { required: field.required }),
    ...(reading || field.required ? {} : defaultOf(field)),
    ...(!reading && field.kind !== 'integer' && field.max !== null
      ? { max_length: field.max }
      : {}),
    ...(field.kind === 'integer' && field.min !== null ? { min_value: field.min } : {}),
    ...(field.kind === 'integer' && field.max !== null ? { max_value: field.max } : {}),
    ...(field.choices.length > 0 ? { choices: choicesOf(field) } : {}),
    filterable: field.filter && hasValue(field),
    ...field.options?.(),
  };
}

/** A reference that may be null has none: its field is left out where nothing is chosen. */
const defaultOf = ({ kind, default: value }: Field): object =>
  value === undefined || (value === null && kind === 'reference') ? {} : { default: value };

/** Choices with the one that stands for "not set", alike for reading and writing. */
function choicesOf(field: Field): readonly (readonly unknown[])[] {
  const { choices, nullable, readOnly, required, kind, blank, default: value } = field;
  const isOptional = !readOnly && !required && kind === 'choice' && blank;
  const hasEmpty = choices.some(([own]) => own === '') || (value !== '' && value !== null);
  return [
    ...(nullable ? [[null, UNSET]] : []),
    ...(isOptional && !hasEmpty ? [['', UNSET]] : []),
    ...choices,
  ];
}

const UNSET = '---------';

/** OPTIONS `type` of a JSON schema's kind, in the words that fields have. */
const SCHEMA_TYPES: Readonly<Record<string, string>> = { number: 'decimal', array: 'list' };

/** The same for what is shown and is no field: members of documents, and what `extend` adds. */
export function schemaOptions(members: JsonSchemas): Record<string, object> {
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [
      name,
      {
        type: schemaType(schema),
        label: labelOf(name),
        ...(schema.description ? { help_text: schema.description } : {}),
        filterable: false,
      },
    ]),
  );
}

function schemaType({ type, format, anyOf }: JsonSchema): string {
  if (anyOf?.[0]) return schemaType(anyOf[0]);
  if (format === 'date-time') return 'datetime';
  if (format === 'date') return 'date';
  // What may be null has a list of types, its own first.
  const [own] = [type].flat();
  // A reference to a named schema is to an object; what says nothing may be anything.
  return typeof own === 'string' ? (SCHEMA_TYPES[own] ?? own) : 'object';
}
