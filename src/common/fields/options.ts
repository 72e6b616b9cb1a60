import type { JsonSchema, JsonSchemas } from './json-schema.js';
import { hasValue } from './column-types.js';
import type { Field, FieldOptions } from './field.js';
import { labelOf } from './label.js';
import { mapValues } from '../records.js';

/**
 * Returns the OPTIONS `type` of a field (docs/contract/conventions.md#options). The command-line client
 * derives its flags from the type.
 */
function optionsTypeOf(field: Field): string {
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

/** Overrides the OPTIONS type of a field. Clients send a `string` exactly as the user typed it. */
export const describedAs = (type: 'string' | 'json' | 'date'): Pick<FieldOptions, 'options'> => ({
  options: () => ({ type }),
});

/** Returns the field metadata in OPTIONS for one method (docs/contract/conventions.md#options). */
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
    type: optionsTypeOf(field),
    label: field.label,
    ...(field.help ? { help_text: field.help } : {}),
    ...(reading ? {} : { required: field.required }),
    ...(reading || field.required ? {} : defaultMember(field)),
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

/**
 * Returns the default of a field. A nullable reference has no default: clients omit the field if nothing
 * is chosen.
 */
const defaultMember = ({ kind, default: value }: Field): object =>
  value === undefined || (value === null && kind === 'reference') ? {} : { default: value };

/** Returns the choices. Nullable and optional fields also have an entry that means "not set". */
function choicesOf(field: Field): readonly (readonly unknown[])[] {
  const { choices, nullable, readOnly, required, kind, blank, default: value } = field;
  const isOptional = !readOnly && !required && kind === 'choice' && blank;
  const hasEmpty = choices.some(([stored]) => stored === '') || (value !== '' && value !== null);
  return [
    ...(nullable ? [[null, UNSET]] : []),
    ...(isOptional && !hasEmpty ? [['', UNSET]] : []),
    ...choices,
  ];
}

const UNSET = '---------';

/** OPTIONS `type` for JSON Schema types that OPTIONS names differently. */
const SCHEMA_TYPES: Readonly<Record<string, string>> = { number: 'decimal', array: 'list' };

/** Describes values that are shown but are not fields: members of documents and of representations. */
export function schemaOptions(members: JsonSchemas): Record<string, object> {
  return mapValues(members, (schema, name) => ({
    type: schemaType(schema),
    label: labelOf(name),
    ...(schema.description ? { help_text: schema.description } : {}),
    filterable: false,
  }));
}

function schemaType({ type, format, anyOf }: JsonSchema): string {
  if (anyOf?.[0]) return schemaType(anyOf[0]);
  if (format === 'date-time') return 'datetime';
  if (format === 'date') return 'date';
  // A nullable schema has a list of types, with the non-null type first.
  const [mainType] = [type].flat();
  // A reference to a named schema is an object. A schema without a type accepts any value.
  return typeof mainType === 'string' ? (SCHEMA_TYPES[mainType] ?? mainType) : 'object';
}
