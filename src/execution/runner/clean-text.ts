import { ExactNumber, entriesOf, exactJson, recordOf } from '../../common/exact-json.js';
/** What stands in for a half of a surrogate pair: such text is no UTF-8 and PostgreSQL refuses it. */
const REPLACEMENT = '\uFFFD';
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** Beyond this the value is not data but an attack on the stack; the API's own limit is 64. */
export const MAX_DEPTH = 100;

/** Makes any text storable: NUL characters are removed, lone surrogates replaced. */
export function cleanText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return withoutNul.replace(LONE_SURROGATE, REPLACEMENT);
}

/** Shortens to `max` characters, the last of them `…`, never through the middle of a pair. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * Copies a JSON value with `change` applied to every text, keys included.
 * Values nested deeper than {@link MAX_DEPTH} become null.
 */
export function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (!isContainer(value)) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  return mapTextsIn(value, change, depth);
}

/** The same of an object, which stays one. */
export function mapTextsIn(
  record: object,
  change: (text: string) => string,
  depth = 0,
): Record<string, unknown> {
  // `recordOf` defines own properties, so a key `__proto__` stays an ordinary key.
  return recordOf(
    entriesOf(record).map(
      ([key, item]) => [change(key), mapTexts(item, change, depth + 1)] as const,
    ),
  );
}

/** Every text and number in a JSON value, as texts; keys are none of them. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value instanceof ExactNumber) return [value.text];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber);

/** JSON text without NUL characters and lone surrogates, which `JSON.stringify` alone would let pass. */
export function toCleanJson(value: unknown): string {
  return exactJson(mapTexts(value, cleanText));
}
