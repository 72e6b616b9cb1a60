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

function isData(value: unknown): value is object {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
