/** PostgreSQL text takes neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Nesting that JSON bodies and variables may have; deeper input is refused. */
export const MAX_DEPTH = 64;

/** Whether every text of a JSON value is storable and the nesting is within bounds. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (value === null || typeof value !== 'object') return true;
  if (depth >= MAX_DEPTH) return false;
  return Object.entries(value).every(
    ([key, child]) => isStorable(key) && isStorableJson(child, depth + 1),
  );
}

/** What a secret is shown as; sent back, it keeps the secret. */
export const ENCRYPTED = '$encrypted$';
