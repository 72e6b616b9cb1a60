/** Whether a value is an object of named members: not null, and no list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keys of a table of this program, whose type names them all. */
export function keysOf<Table extends object>(table: Table): (keyof Table & string)[] {
  const keys: (keyof Table & string)[] = [];
  for (const key in table) keys.push(key);
  return keys;
}

/** A table that has a value for each of the keys. */
export const tableOf = <Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> =>
  Object.fromEntries(keys.map((key) => [key, valueOf(key)])) as Record<Key, Value>;

/** Whether a text is one of the words that a list of this program names. */
export const isOneOf = <Word extends string>(
  words: readonly Word[],
  value: unknown,
): value is Word => words.some((word) => word === value);
