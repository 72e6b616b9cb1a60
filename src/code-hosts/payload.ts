import { isRecord } from '../common/records.js';
import { JsonTooLarge, parseJson } from '../common/fields/json-bounds.js';
import { MAX_DEPTH } from '../common/fields/text.js';

/** Values a payload may have whatever its size, and one more for so many characters. */
const MIN_VALUES = 100_000;
const CHARACTERS_PER_VALUE = 16;

/** Why a verified body cannot be read as an event. */
export type PayloadFault =
  'compressed' | 'encoding' | 'media_type' | 'form' | 'json' | 'object' | 'depth' | 'values';

const FAULT_TEXT: Record<PayloadFault, string> = {
  compressed: 'The body must not be compressed.',
  encoding: 'JSON parse error - the body is not valid UTF-8',
  media_type: 'The body must be JSON.',
  form: 'The form must carry the event as JSON in one field "payload".',
  json: 'JSON parse error - the body is not valid JSON',
  object: 'JSON parse error - not a JSON object',
  depth: `JSON parse error - nested deeper than ${MAX_DEPTH} levels`,
  values: 'JSON parse error - too many values',
};

/** Thrown for a verified body that is not an event: a 400 whose `detail` is the message. */
export class InvalidPayload extends Error {
  constructor(readonly fault: PayloadFault) {
    super(FAULT_TEXT[fault]);
    this.name = 'InvalidPayload';
  }
}

/** A payload as text, exactly as received, and parsed. */
export interface ParsedPayload {
  /**
   * Valid UTF-8 without NUL or lone surrogates (JSON writes both as escapes), so a `text` or `json`
   * column takes it as it is. Numbers beyond 2^53 are exact only here.
   */
  text: string;
  value: Record<string, unknown>;
}

/**
 * Reads a body whose signature is verified: JSON, or a form whose field carries JSON. An empty body
 * is an empty object, as everywhere in the API. @throws InvalidPayload
 */
export function parsePayload(
  rawBody: Uint8Array,
  contentType: string | null,
  formField: string | null,
): ParsedPayload {
  const body = decode(rawBody);
  const text = isForm(contentType) ? fromForm(body, formField) : body;
  if (text.trim() === '') return { text: '{}', value: {} };
  return { text, value: toObject(text) };
}

/** What is at a dotted path (`changes.0.toHash`); undefined when a part is missing. Only own properties count. */
export function valueAt(payload: unknown, path: string): unknown {
  let value: unknown = payload;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** The text at a path; null when it is missing, not a text, or not plain. */
export function textAt(payload: unknown, path: string): string | null {
  const value = valueAt(payload, path);
  return typeof value === 'string' && isPlainText(value) ? value : null;
}

/** Not empty, no control characters, no lone surrogates: safe for the database, headers and commands. */
export function isPlainText(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}]+$/u.test(text);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidPayload('encoding');
  }
}

function isForm(contentType: string | null): boolean {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  return mediaType.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

function fromForm(body: string, formField: string | null): string {
  if (formField === null) throw new InvalidPayload('media_type');
  const [value, ...more] = new URLSearchParams(body).getAll(formField);
  if (value === undefined || more.length > 0) throw new InvalidPayload('form');
  // Percent-encoded garbage becomes U+FFFD here; raw NULs are refused by the JSON parser.
  return value;
}

function toObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(text, MIN_VALUES + text.length / CHARACTERS_PER_VALUE);
  } catch (error) {
    throw new InvalidPayload(error instanceof JsonTooLarge ? error.bound : 'json');
  }
  if (!isRecord(value)) throw new InvalidPayload('object');
  return value;
}
