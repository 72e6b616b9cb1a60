/** Deepest nesting of a payload (security list: JSON depth 64). */
export const MAX_PAYLOAD_DEPTH = 64;

/** Why a verified body cannot be read as an event. */
export type PayloadFault =
  'compressed' | 'encoding' | 'media_type' | 'form' | 'json' | 'object' | 'depth';

const FAULT_TEXT: Record<PayloadFault, string> = {
  compressed: 'The body must not be compressed.',
  encoding: 'JSON parse error - the body is not valid UTF-8',
  media_type: 'The body must be JSON.',
  form: 'The form must carry the event as JSON in one field "payload".',
  json: 'JSON parse error - the body is not valid JSON',
  object: 'JSON parse error - not a JSON object',
  depth: `JSON parse error - nested deeper than ${MAX_PAYLOAD_DEPTH} levels`,
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
  // Before parsing: what exceeds the limit must not cost memory first.
  if (isTooDeep(text)) throw new InvalidPayload('depth');
  return { text, value: toObject(text) };
}

/** What is at a dotted path (`changes.0.toHash`); undefined when a part is missing. Only own properties count. */
export function valueAt(payload: unknown, path: string): unknown {
  let value: unknown = payload;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Record<string, unknown>)[part];
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
    value = JSON.parse(text);
  } catch {
    throw new InvalidPayload('json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidPayload('object');
  }
  return value as Record<string, unknown>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // Brackets and braces differ in this one bit only, and no other ASCII character joins them.
    const brace = code | 0x20;
    if (code === QUOTE) index = stringEnd(text, index + 1);
    else if (brace === OPENING_BRACE) {
      depth += 1;
      if (depth > MAX_PAYLOAD_DEPTH) return true;
    } else if (brace === CLOSING_BRACE) depth -= 1;
  }
  return false;
}

/** Index of the quote that ends a string, or of the end of the text. Most of a payload is strings: they are skipped natively. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** A character is escaped by an odd number of backslashes right before it. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}
