import { isDeepStrictEqual } from 'node:util';
import { jsonText } from '../../common/fields/json-text.js';
import { entriesOf, mergeExact, recordOf } from '../../common/exact-json.js';
import { VariablesError, type VariablesReader } from '../../common/fields/variables.js';
import { ImportError, type ImportedVariables } from './delivery.js';
import type { KnownVariables } from './known-objects.js';

/**
 * Returns an object's variables after the import of a source that does not overwrite variables
 * (docs/contract/inventory-sources.md#variables). Delivered values replace current values. A value
 * that the source no longer delivers is removed, unless another source delivers the value or a user
 * changed the value since the last import.
 *
 * @returns the text to store; the current text if nothing changes
 * @throws ImportError if the current text cannot be parsed
 */
export function mergedText(
  label: string,
  { variables, delivered, others }: KnownVariables,
  { now, read }: { now: string; read: VariablesReader },
): string {
  const current = parseOrThrow(label, variables, read);
  const before = read(delivered ?? '');
  const merged = mergedVariables(current, { before, now: read(now), others });
  if (isDeepStrictEqual(merged, current)) return variables;
  return Object.keys(merged).length === 0 ? '' : jsonText(merged);
}

export function mergedVariables(
  current: ImportedVariables,
  {
    before,
    now,
    others,
  }: { before: ImportedVariables; now: ImportedVariables; others: readonly string[] },
): ImportedVariables {
  const isGone = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(before, name) &&
    !Object.hasOwn(now, name) &&
    !others.includes(name) &&
    isDeepStrictEqual(value, before[name]);
  const remaining = entriesOf(current).filter((entry) => !isGone(entry));
  return mergeExact(recordOf(remaining), now);
}

function parseOrThrow(label: string, text: string, read: VariablesReader): ImportedVariables {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    throw new ImportError(`The variables of the ${label} cannot be read: ${error.message}`);
  }
}
