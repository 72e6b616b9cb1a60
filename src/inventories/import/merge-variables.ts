import { jsonText } from '../../common/fields/json-text.js';
import { entriesOf, mergeExact, recordOf } from '../../common/exact-json.js';
import { isDeepStrictEqual } from 'node:util';
import { VariablesError, type VariablesReader } from '../../common/fields/variables.js';
import { ImportError, type Variables } from './delivery.js';
import type { StoredVariables } from './known-objects.js';

/**
 * The variables of an object after a source was imported that overwrites none
 * (docs/contract/inventory-sources.md#variables): what it says goes over what is there, and what it
 * said last and says no more goes, unless another source says it or somebody has changed it since.
 *
 * @returns the text to be stored; that which is there where nothing changes
 * @throws ImportError where the present text cannot be read
 */
export function mergedText(
  what: string,
  { variables, delivered, others }: StoredVariables,
  { now, read }: { now: string; read: VariablesReader },
): string {
  const present = readOf(what, variables, read);
  const before = read(delivered ?? '');
  const merged = mergedVariables(present, { before, now: read(now), others });
  if (isDeepStrictEqual(merged, present)) return variables;
  return Object.keys(merged).length === 0 ? '' : jsonText(merged);
}

export function mergedVariables(
  present: Variables,
  { before, now, others }: { before: Variables; now: Variables; others: readonly string[] },
): Variables {
  const isGone = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(before, name) &&
    !Object.hasOwn(now, name) &&
    !others.includes(name) &&
    isDeepStrictEqual(value, before[name]);
  const kept = entriesOf(present).filter((entry) => !isGone(entry));
  return mergeExact(recordOf(kept), now);
}

function readOf(what: string, text: string, read: VariablesReader): Variables {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    throw new ImportError(`The variables of the ${what} cannot be read: ${error.message}`);
  }
}
