/**
 * Error for a violated assumption that the compiler cannot verify: a reference points to a row, an INSERT
 * returns a row, lists derived from each other have equal lengths. The message names the assumption. The
 * response is 500 and the error is logged; bad input never causes it.
 */
export class BrokenInvariant extends Error {
  constructor(assumption: string) {
    super(`Broken invariant: ${assumption}.`);
    this.name = 'BrokenInvariant';
  }
}

/**
 * Returns a value that is always present.
 *
 * @param assumption the reason, as a sentence: "an INSERT returns its row"
 * @throws BrokenInvariant if the value is missing
 */
export function existing<T>(value: T, assumption: string): NonNullable<T> {
  if (value === undefined || value === null) throw new BrokenInvariant(assumption);
  return value;
}

/** Returns the entry of a map that contains all requested keys. */
export function entryOf<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined && !map.has(key)) {
    throw new BrokenInvariant(`the map has an entry for ${String(key)}`);
  }
  return value as Value;
}

export function itemAt<Item>(list: readonly Item[], index: number): Item {
  if (!(index in list)) {
    throw new BrokenInvariant(`the list of ${list.length} has an index ${index}`);
  }
  return list[index] as Item;
}

/** Pairs the items of two lists of equal length. */
export function zip<Left, Right>(
  left: readonly Left[],
  right: readonly Right[],
): [left: Left, right: Right][] {
  if (left.length !== right.length) {
    throw new BrokenInvariant(`lists of ${left.length} and ${right.length} belong together`);
  }
  return left.map((item, index) => [item, right[index] as Right]);
}
