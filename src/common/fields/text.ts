import { resultOr } from '../errors/errors.js';

/** Returns true if PostgreSQL can store the text: a text without NUL and without unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Makes a text storable in PostgreSQL: removes NUL, and replaces unpaired surrogates by U+FFFD. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** Shortens a text to `max` UTF-16 units, the last of them `…`, and never splits a surrogate pair. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Maximum nesting of JSON bodies and variables. */
export const MAX_DEPTH = 64;

/** Returns true if every text in a JSON value is storable and the nesting is within the limit. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (value === null || typeof value !== 'object') return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(
    ([key, child]) => isStorable(key) && isStorableJson(child, depth + 1),
  );
}

/** Maximum length of a URL, in characters. */
export const MAX_URL_LENGTH = 2048;

/**
 * Removes all occurrences of a character at the end of a text. A regular expression such as `/\/+$/`
 * takes a time that grows with the square of the length.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** Returns the trimmed parts of a text that are not empty. */
export const partsOf = (text: string, separator: ',' | '\n'): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Placeholder for secrets in responses. Sending the placeholder keeps the stored secret. */
export const ENCRYPTED = '$encrypted$';

/** Decodes percent-encoded characters in a part of a URL; returns malformed text unchanged. */
export const decodedPart = (text: string): string => resultOr(() => decodeURIComponent(text), text);
