/** Returns the promise that is known for a key, or asks for it. A failed promise is forgotten. */
export function once<T>(
  known: Map<string, Promise<T>>,
  key: string,
  ask: () => Promise<T>,
): Promise<T> {
  const asked = known.get(key);
  if (asked) return asked;
  const asking = ask();
  known.set(key, asking);
  asking.catch(() => known.delete(key));
  return asking;
}

/** Returns a function that asks once, and again after a failure. */
export function onceOnly<T>(ask: () => Promise<T>): () => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return () => once(known, '', ask);
}
