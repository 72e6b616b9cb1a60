import { resultOr } from '../../common/errors/errors.js';
import { MAX_DEPTH } from '../../common/fields/text.js';
import { isRecord } from '../../common/records.js';

/** Makes a text storable in PostgreSQL: removes NUL, and replaces unpaired surrogates by U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * Returns the object of a JSON text, made storable in a jsonb column; null if the text is not an
 * object, or is nested deeper than `MAX_DEPTH`.
 */
export function storableObjectIn(text: string): Record<string, unknown> | null {
  const value = resultOr(() => storable(JSON.parse(text), MAX_DEPTH), null);
  return isRecord(value) ? value : null;
}

function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((item) => storable(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), storable(item, depth - 1)]),
  );
}
