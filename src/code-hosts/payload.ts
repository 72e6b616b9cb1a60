import { isRecord } from '../common/records.js';
import { JsonTooLarge, parseJson } from '../common/fields/json-bounds.js';
import { MAX_DEPTH } from '../common/fields/text.js';

/** Number of values permitted in every payload, and number of characters that permit one value more. */
const MIN_VALUES = 100_000;
const CHARACTERS_PER_VALUE = 16;

/** Reason why a verified body is not an event. */
export type PayloadFault =
  'compressed' | 'encoding' | 'media_type' | 'form' | 'json' | 'object' | 'depth' | 'values';

const FAULT_TEXT: Record<PayloadFault, string> = {
  compressed: 'The body must not be compressed.',
  encoding: 'JSON parse error - the body is not valid UTF-8',
  media_type: 'The body must be JSON.',
  form: 'The form must contain the event as JSON in one field "payload".',
  json: 'JSON parse error - the body is not valid JSON',
  object: 'JSON parse error - not a JSON object',
  depth: `JSON parse error - nested deeper than ${MAX_DEPTH} levels`,
  values: 'JSON parse error - too many values',
};

/** Error for a verified body that is not an event: a 400 with the message as `detail`. */
export class InvalidPayload extends Error {
  constructor(readonly fault: PayloadFault) {
    super(FAULT_TEXT[fault]);
    this.name = 'InvalidPayload';
  }
}

/** Payload as text, exactly as received, and as an object. */
export interface ParsedPayload {
  /**
   * Valid UTF-8 without NUL or lone surrogates (JSON escapes both), so that a `text` or `json` column
   * accepts the text unchanged. Only this text has exact numbers beyond 2^53.
   */
  text: string;
  value: Record<string, unknown>;
}

/**
 * Parses a verified body: JSON, or a form with JSON in a field. An empty body is an empty object, as
 * everywhere in the API.
 *
 * @throws InvalidPayload
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

/** Returns the value at a dotted path (`changes.0.toHash`), or undefined. Only own properties count. */
export function valueAt(payload: unknown, path: string): unknown {
  let value: unknown = payload;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** Returns the text at a path; null if it is missing, not a text, or not plain. */
export function textAt(payload: unknown, path: string): string | null {
  const value = valueAt(payload, path);
  return typeof value === 'string' && isPlainText(value) ? value : null;
}

/**
 * Returns true for non-empty text without control characters and lone surrogates: safe for the database,
 * headers and commands.
 */
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
  // Invalid percent-encoding becomes U+FFFD here; the JSON parser rejects raw NULs.
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
