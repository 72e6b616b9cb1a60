import {
  entriesOf,
  ExactNumber,
  isInexact,
  parseExact,
  recordOf,
} from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import { Thread, threadFile } from '../../common/thread.js';
import { NO_TEMPLATE } from '../../inventories/import/variable-paths.js';
import { RunFailed } from '../worker/outcome.js';

/** Maximum size of a document, in bytes. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
/**
 * Maximum number of values in a document: each value takes time on the event loop when the thread
 * returns the document.
 */
const MAX_VALUES = 4_000_000;
/** Timeout of parsing, in ms; far above the parsing time of the largest document. */
const TIMEOUT_MS = 60_000;

/** The parsed document, packed or plain, or the reason why the thread rejected it. */
export type ParsedDocument =
  { readonly document: unknown } | { readonly packed: unknown } | { readonly fault: string };

const parser = new Thread<string, ParsedDocument>({
  file: threadFile('inventory-document'),
  timeoutMs: TIMEOUT_MS,
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 64, stackSizeMb: 2 },
});

/**
 * Parses the inventory JSON that Ansible printed, in a separate thread, because the author of the
 * inventory controls its size and shape.
 *
 * @throws RunFailed if the text is not JSON, has too many values, or takes too long
 */
export async function readDocument(text: string): Promise<unknown> {
  const parsed = await parser.run(text).catch((error: Error) => {
    throw new RunFailed(`The inventory cannot be read: ${error.message}.`);
  });
  if ('fault' in parsed) throw new RunFailed(parsed.fault);
  return 'packed' in parsed ? unpack(parsed.packed) : parsed.document;
}

/** Parses the document; runs in the thread. */
export function parseDocument(text: string): ParsedDocument {
  if (countValues(text) > MAX_VALUES) {
    return { fault: `The inventory has more than ${MAX_VALUES} values.` };
  }
  try {
    if (isInexact(text)) return { packed: pack(parseExact(text)) };
    return { document: JSON.parse(text, (_, value: unknown) => unmarked(value)) };
  } catch {
    return { fault: 'The inventory is not valid JSON.' };
  }
}

/**
 * Converts values that do not survive a copy between threads: exact numbers to sets with their
 * text, objects to maps that keep their key order.
 */
function pack(value: unknown): unknown {
  if (value instanceof ExactNumber) return new Set([value.text]);
  if (Array.isArray(value)) return value.map(pack);
  if (typeof value !== 'object' || value === null) return value;
  if (unmarked(value) !== value) return unmarked(value);
  return new Map(entriesOf(value).map(([name, member]) => [name, pack(member)]));
}

function unpack(value: unknown): unknown {
  if (value instanceof Set) return new ExactNumber(String([...value][0]));
  if (Array.isArray(value)) return value.map(unpack);
  if (!(value instanceof Map)) return value;
  return recordOf([...value].map(([name, member]) => [String(name), unpack(member)] as const));
}

/**
 * Returns the text of an object in which Ansible marks a text that is not a template. Ansible 2.19 and
 * later marks every text that a plugin read elsewhere. Returns
 * the object itself if its text could be evaluated as a template, because the mark prevents that.
 */
function unmarked(value: unknown): unknown {
  if (!isRecord(value) || typeof value[NO_TEMPLATE] !== 'string') return value;
  const isOnly = Object.keys(value).length === 1;
  return isOnly && !/\{[{%#]/.test(value[NO_TEMPLATE]) ? value[NO_TEMPLATE] : value;
}

const VALUE_STARTS = new Set([...',[{'].map((mark) => mark.charCodeAt(0)));

/**
 * Returns an upper bound of the number of values: each value follows a comma or opens an array or
 * object.
 */
function countValues(text: string): number {
  let count = 1;
  for (let index = 0; index < text.length; index += 1)
    if (VALUE_STARTS.has(text.charCodeAt(index))) count += 1;
  return count;
}
