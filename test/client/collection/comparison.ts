/**
 * Decides whether an object has to change, and whether it did, as the collection does: by the given fields,
 * value by value. Secrets cannot be compared.
 */
import { isItem, type Item } from './python-values.js';

const SECRET = '$encrypted$';
const NEVER_COMPARED = ['modified', 'related', 'summary_fields'];

/** Returns true if the fields to be sent make a change necessary. */
export function needsChange(existing: Item, fields: Item, updateSecrets: boolean): boolean {
  const names = Object.keys(fields).filter((name) => !NEVER_COMPARED.includes(name));
  return couldDiffer(existing, fields, names, updateSecrets);
}

/** Returns true if the response to a change differs in the sent fields. */
export function hasChanged(
  existing: Item,
  answer: Item,
  fields: Item,
  updateSecrets: boolean,
): boolean {
  return couldDiffer(existing, answer, Object.keys(fields), updateSecrets);
}

function couldDiffer(
  before: Item,
  after: Item,
  names: readonly string[],
  updateSecrets: boolean,
): boolean {
  return names.some((name) => {
    const [old, now] = [before[name], after[name]];
    // Members that a response omits, for example a password, cannot be compared either.
    const suspicious = !isSame(old, now) || holdsSecret(now) || !(name in after);
    return suspicious && (updateSecrets || !couldBeSame(old, now));
  });
}

/** Compares as Python does: a missing member equals null, and true equals the number one. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, at) => isSame(entry, other[at]));
  if (isItem(one) && isItem(other))
    return (
      sameKeys(one, other) && Object.entries(one).every(([key, value]) => isSame(value, other[key]))
    );
  return plain(one) === plain(other);
}

const plain = (value: unknown): unknown =>
  typeof value === 'boolean' ? Number(value) : (value ?? null);

/** Returns true if any value in it is the placeholder for a secret. */
export function holdsSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  return isItem(value) ? Object.values(value).some(holdsSecret) : value === SECRET;
}

function couldBeSame(old: unknown, now: unknown): boolean {
  if (isItem(old) && isItem(now))
    return (
      sameKeys(old, now) &&
      Object.entries(now).every(([key, value]) => couldBeSame(old[key], value))
    );
  return old === SECRET || isSame(old, now);
}

const sameKeys = (one: Item, other: Item): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.keys(one).every((key) => key in other);
