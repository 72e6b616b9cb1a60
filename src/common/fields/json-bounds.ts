import { parseExact } from '../exact-json.js';
import { MAX_DEPTH } from './text.js';

/** Maximum number of values in a body, or in JSON text: about 50 ms of parsing. */
export const MAX_VALUES = 100_000;

/**
 * Maximum number of names in one object. Above some thousand names, each iteration over an object costs
 * microseconds per name.
 */
const MAX_MEMBERS = 20_000;

/** Weight of an object or a list in the count of values, because each allocates its own table. */
const CONTAINER = 4;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Error for a JSON text whose parsing would cost too much. */
export class JsonTooLarge extends Error {
  override readonly name = 'JsonTooLarge';

  constructor(readonly bound: 'depth' | 'values') {
    super(bound === 'depth' ? `nested deeper than ${MAX_DEPTH} levels` : 'too many values');
  }
}

/**
 * Parses a caller's JSON within limits.
 *
 * @throws JsonTooLarge, SyntaxError
 */
export function parseJson(text: string, maxValues = MAX_VALUES, maxNames = Infinity): unknown {
  assertBoundedJson(text, maxValues, maxNames);
  return parseExact(text);
}

/**
 * Counts the depth, values and names of a text before it is parsed. Three bytes of text can take fifty
 * bytes when parsed, and each access to a name in an object with many names costs a microsecond.
 *
 * @throws JsonTooLarge
 */
export function assertBoundedJson(
  text: string,
  maxValues = MAX_VALUES,
  maxNames = Infinity,
  maxMembers = MAX_MEMBERS,
): void {
  let depth = 0;
  let values = 1;
  let names = 0;
  /** Number of names read so far in each enclosing object, with the innermost object last. */
  const members = new Uint32Array(MAX_DEPTH + 1);
  let max = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // Brackets differ from braces in this one bit only, and no other ASCII character maps to either.
    const brace = code | 0x20;
    if (code === QUOTE) index = stringEnd(text, index + 1);
    else if (code === COMMA) values += 1;
    else if (code === COLON) {
      names += 1;
      const count = (members[depth] ?? 0) + 1;
      members[depth] = count;
      if (count > max) max = count;
    } else if (brace === OPENING_BRACE) {
      depth += 1;
      values += CONTAINER;
      if (depth > MAX_DEPTH) throw new JsonTooLarge('depth');
      members[depth] = 0;
    } else if (brace === CLOSING_BRACE) depth -= 1;
    if (values > maxValues || names > maxNames || max > maxMembers)
      throw new JsonTooLarge('values');
  }
}

/**
 * Returns the index of the quote that ends a string, or of the end of the text. Most of a text is
 * strings, so they are skipped by the native `indexOf`.
 */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** Returns true if an odd number of backslashes precedes the character. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}
