import { isEmail } from 'class-validator';
import { Invalid, type FieldErrors } from '../errors/errors.js';
import type { Field } from './field.js';
import { parseJson } from './json-bounds.js';
import { INT4_MAX, INT4_MIN, isStorable, isStorableJson } from './text.js';
import { parseSentVariables } from './variables.js';
import { messageOf } from '../errors/message-of.js';

export const ENCRYPTED = '$encrypted$';

/** Thrown by `parseField` with the text for one field. */
class FieldError extends Error {}

/**
 * The only place that turns a request body into typed values. Scalars are read leniently, as the
 * clients need (docs/contract/clients.md#requests): `"6"` is 6, `0`/`1`/`"false"` are booleans,
 * `null` is an empty text. Unknown and read-only keys are ignored.
 *
 * @param partial PATCH: only keys that are present are read
 * @returns field name to value; absent optional fields have their default unless `partial`
 * @throws Invalid with every fault at once
 */
export function validate(
  fields: readonly Field[],
  body: Record<string, unknown>,
  { partial = false }: { partial?: boolean } = {},
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const errors: FieldErrors = {};
  for (const field of fields) {
    if (field.readOnly || field.internal) continue;
    const given = Object.hasOwn(body, field.name) ? body[field.name] : undefined;
    if (given === undefined) {
      if (partial) continue;
      if (field.required) errors[field.name] = ['This field is required.'];
      else if (field.default !== undefined) values[field.name] = field.default;
      continue;
    }
    try {
      values[field.name] = parseField(field, given);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      errors[field.name] = [error.message];
    }
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  return values;
}

function parseField(field: Field, given: unknown): unknown {
  if (given === null) return parseNull(field);
  switch (field.kind) {
    case 'string':
    case 'text':
    case 'secret':
      return parseText(field, given);
    case 'email':
      return parseEmail(field, given);
    case 'integer':
      return field.choices.length > 0 ? parseChoice(field, given) : parseInteger(field, given);
    case 'float':
      return parseFloatNumber(given);
    case 'boolean':
      return parseBoolean(given);
    case 'choice':
      return parseChoice(field, given);
    case 'datetime':
      return parseDate(given);
    case 'json':
      return parseDocument(field, given);
    case 'variables':
      return parseVariablesText(given);
    case 'reference':
      return parseReference(field, given);
  }
}

function parseNull(field: Field): unknown {
  if (field.nullable) return null;
  if (field.kind === 'boolean') return false;
  const textual = ['string', 'text', 'email', 'choice', 'variables', 'secret'].includes(field.kind);
  if (textual && field.blank) return '';
  throw new FieldError('This field may not be null.');
}

function parseText(field: Field, given: unknown): string {
  if (typeof given === 'number' || typeof given === 'bigint') return parseText(field, `${given}`);
  if (typeof given !== 'string') throw new FieldError('Not a valid string.');
  if (!isStorable(given)) throw new FieldError('Null characters are not allowed.');
  const text = field.kind === 'string' ? given.trim() : given;
  if (text === '' && !field.blank) throw new FieldError('This field may not be blank.');
  if (field.max !== null && text.length > field.max && [...text].length > field.max) {
    throw new FieldError(`Ensure this field has no more than ${field.max} characters.`);
  }
  return text;
}

function parseEmail(field: Field, given: unknown): string {
  const text = parseText(field, given);
  if (text !== '' && !isEmail(text)) throw new FieldError('Enter a valid email address.');
  return text;
}

function parseInteger(field: Field, given: unknown): number {
  const number =
    typeof given === 'string' && /^\s*[+-]?\d{1,20}\s*$/.test(given) ? Number(given) : given;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    throw new FieldError('A valid integer is required.');
  }
  const min = field.min ?? INT4_MIN;
  const max = field.max ?? INT4_MAX;
  if (number < min) {
    throw new FieldError(`Ensure this value is greater than or equal to ${min}.`);
  }
  if (number > max) throw new FieldError(`Ensure this value is less than or equal to ${max}.`);
  return number;
}

function parseFloatNumber(given: unknown): number {
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw new FieldError('A valid number is required.');
  }
  return number;
}

const TRUE_WORDS = new Set<unknown>([true, 1, '1', 'true', 't', 'yes', 'y', 'on']);
const FALSE_WORDS = new Set<unknown>([false, 0, '0', 'false', 'f', 'no', 'n', 'off', '']);

/** Reads a boolean as the clients write it; undefined when it is none. */
export function toBoolean(given: unknown): boolean | undefined {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : given;
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  return undefined;
}

function parseBoolean(given: unknown): boolean {
  const value = toBoolean(given);
  if (value === undefined) throw new FieldError('Must be a valid boolean.');
  return value;
}

function parseChoice(field: Field, given: unknown): string | number {
  const found = field.choices.find(
    ([value]) => value === given || (typeof given !== 'object' && String(value) === String(given)),
  );
  if (found) return found[0];
  if (given === '' && field.blank && field.kind === 'choice') return '';
  const shown = typeof given === 'string' ? given : JSON.stringify(given);
  throw new FieldError(`"${shown}" is not a valid choice.`);
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** An ISO 8601 date or date-time as PostgreSQL reads it; undefined when it is none. */
export function toTimestamp(given: unknown): string | undefined {
  if (typeof given !== 'string' || !ISO_DATE.test(given.trim())) return undefined;
  const text = given.trim();
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text.slice(10)) || text.length === 10;
  const instant = new Date(zoned ? text : `${text.replace(' ', 'T')}Z`);
  if (Number.isNaN(instant.getTime())) return undefined;
  // Date rolls the 31st of February over into March; the calendar does not.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10);
  return day === text.slice(0, 10) ? (zoned ? text : `${text}Z`) : undefined;
}

function parseDate(given: unknown): string {
  const value = toTimestamp(given);
  if (value === undefined) {
    throw new FieldError(
      'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
    );
  }
  return value;
}

/**
 * The document that a text stands for; any other value as it is.
 *
 * @throws Invalid for a text that is no JSON
 */
export function toJson(field: Field, given: unknown): unknown {
  const value = readJson(given);
  if (value === undefined) throw Invalid.field(field.name, NO_JSON);
  return value;
}

const NO_JSON = 'Value must be valid JSON.';

/** Undefined for a text that is no JSON. */
function readJson(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return given.trim() === '' ? {} : parseJson(given);
  } catch {
    return undefined;
  }
}

function parseDocument(field: Field, given: unknown): unknown {
  const value = readJson(given);
  if (value === undefined) throw new FieldError(NO_JSON);
  if (value === null) return parseNull(field);
  if (field.anyShape) return storableJson(value);
  if (typeof value !== 'object' || Array.isArray(value) !== Array.isArray(field.default)) {
    throw new FieldError(
      Array.isArray(field.default)
        ? `Expected a list of items but got type "${typeName(value)}".`
        : `Invalid data. Expected a dictionary, but got ${typeName(value)}.`,
    );
  }
  return storableJson(value);
}

function storableJson(value: unknown): unknown {
  if (!isStorableJson(value)) throw new FieldError(NO_JSON);
  return value;
}

function parseVariablesText(given: unknown): string {
  const text = typeof given === 'object' ? JSON.stringify(given) : given;
  if (typeof text !== 'string') throw new FieldError('Not a valid string.');
  if (!isStorable(text)) throw new FieldError('Null characters are not allowed.');
  try {
    if (!isStorableJson(parseSentVariables(text))) {
      throw new Error('Null characters are not allowed.');
    }
  } catch (error) {
    throw new FieldError(messageOf(error));
  }
  return text;
}

function parseReference(field: Field, given: unknown): number | null {
  if (given === '' && field.nullable) return null;
  const id = typeof given === 'string' && /^\d{1,20}$/.test(given) ? Number(given) : given;
  if (typeof id !== 'number' || !Number.isInteger(id)) {
    throw new FieldError(`Incorrect type. Expected pk value, received ${typeName(given)}.`);
  }
  if (id < 1 || id > INT4_MAX) throw new FieldError(invalidPk(id));
  return id;
}

export const invalidPk = (id: unknown): string =>
  `Invalid pk "${String(id)}" - object does not exist.`;

/** The type names the contract's texts use. */
export function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'dict';
}
