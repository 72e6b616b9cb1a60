import { parseExact } from './exact-json.js';
import { BrokenInvariant } from './invariants.js';

/** Returns true for an object of named members: not null, no list, and no `ExactNumber`. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Number);

/** A member of whatever was thrown or sent; undefined of what has none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/**
 * The object that a text of this program's own is the JSON of.
 *
 * @throws BrokenInvariant when it is the JSON of something else
 */
export function parseRecord(text: string): Record<string, unknown> {
  const value: unknown = parseExact(text);
  if (!isRecord(value)) throw new BrokenInvariant('the JSON of an object is one');
  return value;
}

/** An object without a prototype: no name that a client makes up is there already. */
export const bareRecord = <Value>(): Record<string, Value> =>
  Object.create(null) as Record<string, Value>;

/** Of a class; the compiler takes that of a `Function` for anything. */
export const prototypeOf = ({ prototype }: { prototype: object }): object => prototype;

/** A list as it is; anything else has no entries. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether a value is an object whose members are all texts. */
export const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((member) => typeof member === 'string');

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

/** The same names with other values. */
export const mapValues = <Value, Result>(
  record: Readonly<Record<string, Value>>,
  resultOf: (value: Value, name: string) => Result,
): Record<string, Result> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, resultOf(value, name)] as const),
  );

/** Whether a text is one of the words that a list of this program names. */
export const isOneOf = <Word extends string>(
  words: readonly Word[],
  value: unknown,
): value is Word => words.some((word) => word === value);

/** Requests name the keys of such a record: no name of `Object.prototype` may be one. */
export function ownNames<Value>(
  record: Readonly<Record<string, Value>> = {},
): Readonly<Record<string, Value>> {
  const copy = { ...record };
  Object.setPrototypeOf(copy, null);
  return copy;
}
