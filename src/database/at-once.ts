import { isConsequence } from './sql-state.js';

/**
 * Waits for parts of some work that do not wait for each other: in a transaction what they ask is sent
 * at once. As `Promise.all`, but rejects only once all have ended, since nothing
 * may go on in a transaction that is over, and with the reason of what failed because of it.
 */
export async function atOnce<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Place in keyof Parts]: Awaited<Parts[Place]> }> {
  const settling = Promise.allSettled(parts);
  return Promise.all(parts).catch(async (first: unknown) => {
    const settled = await settling;
    if (!isConsequence(first)) throw first;
    const reasons = settled.flatMap((one): unknown[] =>
      one.status === 'rejected' ? [one.reason] : [],
    );
    throw reasons.find((one) => !isConsequence(one)) ?? first;
  });
}
