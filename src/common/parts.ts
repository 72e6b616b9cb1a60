/**
 * Divides items into parts that are processed one after the other, to limit the memory that they need.
 *
 * @param max maximum size of the items of a part; an item that is larger is a part of its own
 */
export function partsBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  max: number,
): Item[][] {
  const parts: Item[][] = [];
  let total = Infinity;
  for (const item of items) {
    const size = sizeOf(item);
    total += size;
    if (total > max) {
      parts.push([]);
      total = size;
    }
    parts.at(-1)?.push(item);
  }
  return parts;
}
