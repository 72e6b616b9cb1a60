import { isRecord } from '../records.js';
import type { Field } from './field.js';
import * as json from './json-schema.js';
import type { JsonSchema, JsonSchemas } from './json-schema.js';

/** Returns the JSON schema of a field in responses. `sentSchema` extends the schema for requests. */
export function fieldSchema(field: Field): JsonSchema {
  const base: Record<string, unknown> = { ...typeOf(field) };
  if (field.help) base.description = field.help;
  if (field.choices.length > 0) base.enum = choiceValues(field);
  if (field.max !== null) base[field.kind === 'integer' ? 'maximum' : 'maxLength'] = field.max;
  if (field.min !== null && field.kind === 'integer') base.minimum = field.min;
  return field.nullable ? json.orNull(base) : base;
}

/** Returns the schema of a field in a request: with its default, and with variables as text or object. */
export function sentSchema(field: Field): JsonSchema {
  const { default: value, required, kind, nullable } = field;
  const schema = {
    ...fieldSchema(field),
    ...(kind === 'variables' ? { type: ['string', 'object', ...(nullable ? ['null'] : [])] } : {}),
  };
  // Client generators reject defaults that are objects.
  const isShown = !required && value !== undefined && !isRecord(value) && value !== null;
  return isShown ? { ...schema, default: value } : schema;
}

/**
 * Returns the schema of a list entry in a request.
 *
 * @param more optional members besides the fields
 */
export const entrySchema = (fields: readonly Field[], more: JsonSchemas = {}): JsonSchema =>
  json.object(
    { ...Object.fromEntries(fields.map((field) => [field.name, sentSchema(field)])), ...more },
    [...fields.filter(({ required }) => !required).map(({ name }) => name), ...Object.keys(more)],
  );

/** Returns the schema of a non-empty list. */
export const filledList = (entry: JsonSchema): JsonSchema => ({ ...json.list(entry), minItems: 1 });

function choiceValues({ choices, nullable, kind, blank, required }: Field): readonly unknown[] {
  const values = choices.map(([value]): string | number | null => value);
  // An optional choice without a value is stored as an empty text.
  if (kind === 'choice' && blank && !required && !values.includes('')) values.push('');
  return nullable ? [...values, null] : values;
}

function typeOf(field: Field): JsonSchema {
  if (field.schema) return field.schema;
  switch (field.kind) {
    case 'integer':
      return json.integerOf(field.columnType);
    case 'reference':
      return { ...json.integerOf(field.columnType), minimum: 1 };
    case 'float':
      return json.NUMBER;
    case 'boolean':
      return json.BOOLEAN;
    case 'datetime':
      return json.INSTANT;
    case 'json':
      if (field.target) return json.list({ ...json.INTEGER, minimum: 1 });
      return Array.isArray(field.default) ? json.list({}) : json.mapOf({});
    default:
      return json.STRING;
  }
}
