/** Maximum lifetime of an identity token, in seconds. */
export const MAX_TOKEN_SECONDS = 24 * 60 * 60;
/** Time for which a new key is published before it signs, so that verifiers know it, in seconds. */
export const PUBLISHED_FIRST_SECONDS = 60 * 60;
/** Tolerated difference of clocks, in seconds. */
export const CLOCK_SECONDS = 5 * 60;

/** Returns the key that signs: the newest that verifiers know, else the oldest. */
export function signingKey<Key extends { age: number }>(keys: readonly Key[]): Key | undefined {
  const newestFirst = keys.toSorted((left, right) => left.age - right.age);
  return newestFirst.find(({ age }) => age >= PUBLISHED_FIRST_SECONDS) ?? newestFirst.at(-1);
}

/** Returns the keys that are published: those that sign, will sign, or signed tokens that can be valid. */
export function publishedKeys<Key extends { age: number }>(keys: readonly Key[]): Key[] {
  const lasts = PUBLISHED_FIRST_SECONDS + MAX_TOKEN_SECONDS + CLOCK_SECONDS;
  return keys.filter(({ age }) => !keys.some((other) => other.age < age && other.age > lasts));
}
