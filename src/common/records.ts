import { parseExact } from './exact-json.js';
import { BrokenInvariant } from './invariants.js';

/** Returns true for an object with named members: not null, not a list, and not an `ExactNumber`. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Number);

/** Returns a member of any value, or undefined. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** Returns the members of an object that are texts. */
export const textMembers = (value: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

/** Returns a text member of any value; empty if it is missing or not a text. */
export function textMember(value: unknown, name: string): string {
  const text = memberOf(value, name);
  return typeof text === 'string' ? text : '';
}

/**
 * Parses JSON written by this program.
 *
 * @throws BrokenInvariant if the JSON is not an object
 */
export function parseRecord(text: string): Record<string, unknown> {
  const value: unknown = parseExact(text);
  if (!isRecord(value)) throw new BrokenInvariant('the JSON of this program is an object');
  return value;
}

/** Creates an object without a prototype, in which no client-defined name exists already. */
export const bareRecord = <Value>(): Record<string, Value> =>
  Object.create(null) as Record<string, Value>;

/**
 * Returns the prototype of a class with a usable type: TypeScript types `Function.prototype` as `any`.
 */
export const prototypeOf = ({ prototype }: { prototype: object }): object => prototype;

/** Adds a value to the list of a key. A copy of the list for each value would take quadratic time. */
export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Returns a list unchanged, and an empty list for any other value. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns true if a value is an object whose members are all texts. */
export const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((member) => typeof member === 'string');

/** Returns the keys of an object literal, whose type names all of them. */
export function keysOf<Table extends object>(table: Table): (keyof Table & string)[] {
  const keys: (keyof Table & string)[] = [];
  for (const key in table) keys.push(key);
  return keys;
}

/** Creates an object with a value for each key. */
export const tableOf = <Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> =>
  Object.fromEntries(keys.map((key) => [key, valueOf(key)])) as Record<Key, Value>;

/** Returns an object with the same names and other values. */
export const mapValues = <Value, Result>(
  record: Readonly<Record<string, Value>>,
  resultOf: (value: Value, name: string) => Result,
): Record<string, Result> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, resultOf(value, name)] as const),
  );

/** Returns true if a list contains the value, and narrows its type. */
export const isOneOf = <Choice extends string>(
  choices: readonly Choice[],
  value: unknown,
): value is Choice => choices.some((choice) => choice === value);

/**
 * Returns a copy without a prototype, for lookups by client-defined names: a name of `Object.prototype`
 * must not match.
 */
export function ownNames<Value>(
  record: Readonly<Record<string, Value>> = {},
): Readonly<Record<string, Value>> {
  const copy = { ...record };
  Object.setPrototypeOf(copy, null);
  return copy;
}
