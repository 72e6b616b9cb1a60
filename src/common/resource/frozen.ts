/**
 * Freezes a declaration with the lists and objects in it. Functions and instances of classes, such as SQL
 * fragments, are not frozen.
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
