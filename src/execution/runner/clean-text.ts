import { ExactNumber, entriesOf, exactJson, recordOf } from '../../common/exact-json.js';
import { storableText } from '../../common/fields/text.js';
/**
 * Maximum depth of a value; a deeper value can only be an attack on the stack. The limit of the API is
 * `MAX_DEPTH`.
 */
export const MAX_JSON_DEPTH = 100;

/**
 * Copies a JSON value and applies `change` to every text, including keys. Replaces objects and lists at the
 * depth {@link MAX_JSON_DEPTH} by null.
 */
export function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (!isContainer(value)) return value;
  if (depth >= MAX_JSON_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  return mapTextsIn(value, change, depth);
}

/** Copies an object and applies `change` to every text, including keys. */
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

/** Returns every text and number in a JSON value, as texts; keys are not included. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value instanceof ExactNumber) return [value.text];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber);

/**
 * Returns JSON text without NUL characters and unpaired surrogates, which `JSON.stringify` does not
 * remove.
 */
export function toCleanJson(value: unknown): string {
  return exactJson(mapTexts(value, storableText));
}
