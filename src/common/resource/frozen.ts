/**
 * Freezes what a declaration amounts to, with the lists and objects in it. Functions and instances of
 * classes, such as pieces of SQL, are left as they are.
 */
export function frozen<T>(value: T): T {
  if (isData(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

const isData = (value: unknown): value is object =>
  Array.isArray(value) ||
  (typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value)));
