/**
 * Waits for parts of some work that do not wait for each other: in a transaction what they ask goes
 * to PostgreSQL in one write. As `Promise.all`, but rejects only once all have ended, since nothing
 * may go on in a transaction that is over.
 */
export async function atOnce<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Place in keyof Parts]: Awaited<Parts[Place]> }> {
  const ended = Promise.all(parts);
  await Promise.allSettled(parts);
  return ended;
}
