/**
 * What this program takes for granted and the compiler cannot see: a reference leads to a row, an
 * INSERT returns one, lists made of one another are equally long. A name says which promise it is,
 * and a broken one is an error that names it: answered with 500, logged, and never bad input.
 */
export class BrokenInvariant extends Error {
  constructor(promise: string) {
    super(`Broken invariant: ${promise}.`);
    this.name = 'BrokenInvariant';
  }
}

/**
 * A value that is always there.
 *
 * @param promise why, as a sentence: "an INSERT returns its row"
 * @throws BrokenInvariant when it is not
 */
export function existing<T>(value: T, promise: string): NonNullable<T> {
  if (value === undefined || value === null) throw new BrokenInvariant(promise);
  return value;
}

/** The entry of a map that was made for all the keys it is asked for. */
export function entryOf<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined && !map.has(key)) {
    throw new BrokenInvariant(`the map has an entry for ${String(key)}`);
  }
  return value as Value;
}

/** An item of a list at a place that it has. */
export function itemAt<Item>(list: readonly Item[], index: number): Item {
  if (!(index in list)) {
    throw new BrokenInvariant(`the list of ${list.length} has a place ${index}`);
  }
  return list[index] as Item;
}

/** Pairs of what stands at the same places of two lists, one of which was made for the other. */
export function zip<Left, Right>(
  left: readonly Left[],
  right: readonly Right[],
): [left: Left, right: Right][] {
  if (left.length !== right.length) {
    throw new BrokenInvariant(`lists of ${left.length} and ${right.length} belong together`);
  }
  return left.map((item, index) => [item, right[index] as Right]);
}
