import { parseJson } from '../common/fields/json-bounds.js';
import { typeName } from '../common/fields/validate.js';
import { Invalid } from '../common/errors/errors.js';

/** More entries than this are refused whatever the settings say. */
const MAX_ENTRIES = 100_000;

/**
 * Reads the list of a bulk request. Forms carry it as JSON text.
 *
 * @throws Invalid when it is missing, no list, empty or out of all proportion
 */
export function readEntries(field: string, given: unknown): unknown[] {
  if (given === undefined) throw Invalid.field(field, 'This field is required.');
  if (given === null) throw Invalid.field(field, 'This field may not be null.');
  const list = typeof given === 'string' ? parsedText(given) : given;
  if (!Array.isArray(list)) {
    throw Invalid.field(field, `Expected a list of items but got type "${typeName(list)}".`);
  }
  if (list.length === 0) throw Invalid.field(field, 'This list may not be empty.');
  if (list.length > MAX_ENTRIES) {
    throw Invalid.field(field, `Ensure this field has no more than ${MAX_ENTRIES} elements.`);
  }
  return list;
}

function parsedText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** @throws Invalid naming the setting, what was sent and what is allowed; exactly the limit passes */
export function assertWithin(noun: string, count: number, setting: string, limit: number): void {
  if (count <= limit) return;
  throw Invalid.all(
    `Number of ${noun} exceeds system setting ${setting}: ${count} sent, ${limit} allowed.`,
  );
}
