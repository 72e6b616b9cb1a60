import { entriesOf, ExactNumber, parseExact } from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import { NO_TEMPLATE } from '../../inventories/import/variable-paths.js';

/** Maximum number of values in a document: each value takes memory and time of the worker. */
const MAX_VALUES = 4_000_000;
/**
 * Maximum number of members of one object, such as hosts: the event loop creates and lists an object
 * without a break.
 */
const MAX_MEMBERS = 500_000;
/** Number of tokens that the event loop parses without a break; takes a few milliseconds. */
const CHUNK_TOKENS = 10_000;

/** The tokens of the parsed document, as JSON texts of lists, or the reason why the thread rejected it. */
export type ParsedDocument = { readonly chunks: readonly string[] } | { readonly fault: string };

class ObjectTooLarge extends Error {}

/** Parses a document; runs in a thread. */
export function parseDocument(text: string): ParsedDocument {
  if (countValues(text) > MAX_VALUES) {
    return { fault: `The inventory has more than ${MAX_VALUES} values.` };
  }
  try {
    return { chunks: pack(parseExact(text)) };
  } catch (error) {
    if (error instanceof ObjectTooLarge) return { fault: error.message };
    return { fault: 'The inventory is not valid JSON.' };
  }
}

/**
 * Splits a document into tokens, in chunks, because the event loop cannot receive a large document
 * without a break. A token is a plain value, the text of an exact number, or the length of a list or
 * object that consists of the values before it. In an object each value follows its name.
 */
function pack(document: unknown): string[] {
  const chunks: string[] = [];
  let tokens: unknown[] = [];
  const add = (token: unknown): void => {
    tokens.push(token);
    if (tokens.length < CHUNK_TOKENS) return;
    chunks.push(JSON.stringify(tokens));
    tokens = [];
  };
  const addValue = (marked: unknown): void => {
    const value = unmarked(marked);
    if (value instanceof ExactNumber) return add({ exact: value.text });
    if (Array.isArray(value)) {
      value.forEach(addValue);
      return add({ items: value.length });
    }
    if (!isRecord(value)) return add(value);
    const members = entriesOf(value);
    if (members.length > MAX_MEMBERS) {
      throw new ObjectTooLarge(
        `The inventory has an object with more than ${MAX_MEMBERS} members.`,
      );
    }
    for (const [name, member] of members) {
      add(name);
      addValue(member);
    }
    add({ members: members.length });
  };
  addValue(document);
  return [...chunks, JSON.stringify(tokens)];
}

/**
 * Returns the text of an object in which Ansible marks a text that is not a template. Ansible 2.19 and
 * later marks every text that a plugin read elsewhere. Returns any other value unchanged, and also an object
 * whose text could be evaluated as a template, because the mark prevents that.
 */
function unmarked(value: unknown): unknown {
  if (!isRecord(value) || typeof value[NO_TEMPLATE] !== 'string') return value;
  const isOnly = Object.keys(value).length === 1;
  return isOnly && !/\{[{%#]/.test(value[NO_TEMPLATE]) ? value[NO_TEMPLATE] : value;
}

const VALUE_STARTS = new Set([...',[{'].map((mark) => mark.charCodeAt(0)));

/**
 * Returns an upper bound of the number of values: each item of an array and each member of an object follows
 * a comma or an opening bracket.
 */
function countValues(text: string): number {
  let count = 1;
  for (let index = 0; index < text.length; index += 1)
    if (VALUE_STARTS.has(text.charCodeAt(index))) count += 1;
  return count;
}
