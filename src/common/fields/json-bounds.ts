import { parseExact } from '../exact-json.js';
import { MAX_DEPTH } from './text.js';

/** Values of a body, or of JSON in a text: about what a parser makes of them in a twentieth of a second. */
export const MAX_VALUES = 100_000;

/** Names that one object may have: above some thousand each step over it costs microseconds a name. */
const MAX_MEMBERS = 20_000;

/** What an object or a list counts, of which each has a table of its own. */
const CONTAINER = 4;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** A JSON text that would cost too much to parse. */
export class JsonTooLarge extends Error {
  override readonly name = 'JsonTooLarge';

  constructor(readonly bound: 'depth' | 'values') {
    super(bound === 'depth' ? `nested deeper than ${MAX_DEPTH} levels` : 'too many values');
  }
}

/** Parses JSON of a caller within bounds. @throws JsonTooLarge, SyntaxError */
export function parseJson(text: string, maxValues = MAX_VALUES, maxNames = Infinity): unknown {
  assertBoundedJson(text, maxValues, maxNames);
  return parseExact(text);
}

/**
 * Counts depth, values and names of a text before it is parsed: what is three bytes for the sender costs the
 * parser fifty, and a name of an object that has many a microsecond each time it is looked at.
 *
 * @throws JsonTooLarge
 */
export function assertBoundedJson(text: string, maxValues = MAX_VALUES, maxNames = Infinity): void {
  let depth = 0;
  let values = 1;
  let names = 0;
  /** Names that the objects around a character have so far, the innermost last. */
  const members = new Uint32Array(MAX_DEPTH + 1);
  let most = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // Brackets and braces differ in this one bit only, and no other ASCII character joins them.
    const brace = code | 0x20;
    if (code === QUOTE) index = stringEnd(text, index + 1);
    else if (code === COMMA) values += 1;
    else if (code === COLON) {
      names += 1;
      const own = (members[depth] ?? 0) + 1;
      members[depth] = own;
      if (own > most) most = own;
    } else if (brace === OPENING_BRACE) {
      depth += 1;
      values += CONTAINER;
      if (depth > MAX_DEPTH) throw new JsonTooLarge('depth');
      members[depth] = 0;
    } else if (brace === CLOSING_BRACE) depth -= 1;
    if (values > maxValues || names > maxNames || most > MAX_MEMBERS)
      throw new JsonTooLarge('values');
  }
}

/** Index of the quote that ends a string, or of the end of the text. Most of a text is strings: they are skipped natively. */
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
