import type { Field } from './field.js';
import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  list,
  mapOf,
  NUMBER,
  orNull,
  STRING,
  type JsonSchema,
  integerOf,
} from './json-schema.js';

/** One field as a JSON schema: what a request may hold and what an answer holds agree. */
export function fieldSchema(field: Field): JsonSchema {
  const base: Record<string, unknown> = { ...typeOf(field) };
  if (field.help) base.description = field.help;
  if (field.choices.length > 0) base.enum = valuesOf(field);
  if (field.max !== null) base[field.kind === 'integer' ? 'maximum' : 'maxLength'] = field.max;
  if (field.min !== null && field.kind === 'integer') base.minimum = field.min;
  return field.nullable ? orNull(base) : base;
}

function valuesOf({ choices, nullable, kind, blank, required }: Field): readonly unknown[] {
  const values = choices.map(([value]): string | number | null => value);
  // A choice that may be left open is stored as an empty text.
  if (kind === 'choice' && blank && !required && !values.includes('')) values.push('');
  return nullable ? [...values, null] : values;
}

function typeOf(field: Field): JsonSchema {
  if (field.schema) return field.schema;
  switch (field.kind) {
    case 'integer':
    case 'reference':
      return integerOf(field.columnType);
    case 'float':
      return NUMBER;
    case 'boolean':
      return BOOLEAN;
    case 'datetime':
      return INSTANT;
    case 'json':
      if (field.target) return list(INTEGER);
      return Array.isArray(field.default) ? list({}) : mapOf({});
    default:
      return STRING;
  }
}
