/** Maximum size of a part, in bytes: a process needs many times as much memory. */
const MAX_BYTES = 8_000_000;

/** Size of a stored row without its variables, in bytes. */
export const ROW_BYTES = 1000;

/**
 * Divides items into parts that are processed one after the other, to limit the memory that they need.
 *
 * @param measures sizes of an item, each with the same maximum for a part; an item above it is a part of its own
 */
export function partsBySize<Item>(
  items: readonly Item[],
  ...measures: ((item: Item) => number)[]
): Item[][] {
  const parts: Item[][] = [];
  let totals = measures.map(() => Infinity);
  for (const item of items) {
    const sizes = measures.map((measure) => measure(item));
    totals = totals.map((total, index) => total + (sizes[index] ?? 0));
    if (totals.some((total) => total > MAX_BYTES)) {
      parts.push([]);
      totals = sizes;
    }
    parts.at(-1)?.push(item);
  }
  return parts;
}
