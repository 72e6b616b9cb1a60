import { plainJson } from '../exact-json.js';
import { Invalid } from '../errors/errors.js';
import { FAULTS } from './fault-texts.js';
import type { Field, FieldKind } from './field.js';
import { parseJson } from './json-bounds.js';
import { jsonText } from './json-text.js';

/**
 * Returns a function that reads the value of a field in the notations that clients send
 * (docs/contract/clients.md#requests). `"6"` is 6, `0`/`1`/`"false"` are booleans, `null` is an empty
 * text or false if the field is not nullable. A value that cannot be read is returned unchanged, and the
 * validators of the field reject it.
 */
export function lenientReader(field: Field): (input: unknown) => unknown {
  const read = readerOf(field);
  const ofNull = nullOf(field);
  // Entries are read one by one, by their own fields.
  const keepsNumbers = field.kind === 'variables' || field.anyShape || field.entries;
  const plain = keepsNumbers ? (input: unknown) => input : plainJson;
  return (input) => (input === null ? ofNull : read(plain(input)));
}

const TEXTUAL = new Set<FieldKind>(['string', 'text', 'email', 'choice', 'variables', 'secret']);

/** Returns the default of a non-nullable field of a kind. */
export function defaultOf(kind: FieldKind): unknown {
  if (TEXTUAL.has(kind)) return '';
  if (kind === 'boolean') return false;
  return undefined;
}

function nullOf({ nullable, kind, blank }: Field): unknown {
  if (nullable) return null;
  if (kind === 'boolean') return false;
  return TEXTUAL.has(kind) && blank ? '' : null;
}

function readerOf(field: Field): (input: unknown) => unknown {
  if (field.choices.length > 0 && field.kind !== 'json') return choiceReader(field);
  switch (field.kind) {
    case 'string':
      return toLine;
    case 'text':
    case 'secret':
    case 'email':
      return toText;
    case 'integer':
      return toInteger;
    case 'float':
      return toNumber;
    case 'boolean':
      return (input) => toBoolean(input) ?? input;
    case 'choice':
      return choiceReader(field);
    case 'datetime':
      return (input) => toTimestamp(input) ?? input;
    case 'json':
      return jsonReader(field);
    case 'variables':
      return (input) => (typeof input === 'object' ? jsonText(input) : input);
    case 'reference':
      return field.nullable ? (input) => (input === '' ? null : toId(input)) : toId;
  }
}

const toText = (input: unknown): unknown => (typeof input === 'number' ? `${input}` : input);

function toLine(input: unknown): unknown {
  const text = toText(input);
  return typeof text === 'string' ? text.trim() : text;
}

const toInteger = (input: unknown): unknown =>
  typeof input === 'string' && /^\s*[+-]?\d{1,20}\s*$/.test(input) ? Number(input) : input;

const toNumber = (input: unknown): unknown =>
  typeof input === 'string' && input.trim() !== '' ? Number(input) : input;

/** Reads an id in digits or as a number. */
const toId = (input: unknown): unknown =>
  typeof input === 'string' && /^\d{1,20}$/.test(input) ? Number(input) : input;

function choiceReader({ choices }: Field): (input: unknown) => unknown {
  const values = new Map<string, unknown>();
  for (const [value] of choices) if (!values.has(String(value))) values.set(String(value), value);
  return (input) => {
    if (typeof input === 'object') return input;
    const word = String(input);
    return values.has(word) ? values.get(word) : input;
  };
}

const TRUE_WORDS = new Set<unknown>([true, 1, '1', 'true', 't', 'yes', 'y', 'on']);
const FALSE_WORDS = new Set<unknown>([false, 0, '0', 'false', 'f', 'no', 'n', 'off', '']);

/** Reads a boolean in the notations that clients send; returns undefined for other values. */
export function toBoolean(input: unknown): boolean | undefined {
  const word = typeof input === 'string' ? input.trim().toLowerCase() : plainJson(input);
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  return undefined;
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Returns an ISO 8601 date or date-time in the format that PostgreSQL reads, or undefined. */
export function toTimestamp(input: unknown): string | undefined {
  if (typeof input !== 'string' || !ISO_DATE.test(input.trim())) return undefined;
  const text = input.trim();
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text.slice(10)) || text.length === 10;
  const instant = new Date(zoned ? text : `${text.replace(' ', 'T')}Z`);
  if (Number.isNaN(instant.getTime())) return undefined;
  // Date converts February 31 to a day in March instead of rejecting it.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10);
  return day === text.slice(0, 10) ? (zoned ? text : `${text}Z`) : undefined;
}

/** Result of reading a text that is not JSON, distinct from every JSON value. */
export const NO_JSON = Symbol('no JSON');

function jsonReader(field: Field): (input: unknown) => unknown {
  // The list validator rejects a text that does not contain a list.
  if (field.entries) return (input) => (typeof input === 'string' ? listIn(input) : input);
  return (input) => {
    const value = readJson(input);
    if (value === null) return nullOf(field);
    return field.target && Array.isArray(value) ? [...new Set(value.map(toId))] : value;
  };
}

function listIn(text: string): unknown {
  const value = text.trim() === '' ? NO_JSON : readJson(text);
  return value === NO_JSON ? text : value;
}

function readJson(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return input.trim() === '' ? {} : parseJson(input);
  } catch {
    return NO_JSON;
  }
}

/**
 * Parses JSON text; returns any other value unchanged.
 *
 * @throws Invalid if a text is not JSON
 */
export function toJson({ name }: Field, input: unknown): unknown {
  const value = readJson(input);
  if (value === NO_JSON) throw Invalid.field(name, FAULTS.json);
  return value;
}
