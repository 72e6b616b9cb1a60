import { isConsequence } from './sql-state.js';

/**
 * Waits for independent parts of some work. In a transaction, their statements are pipelined. In
 * contrast to `Promise.all`, rejects only when all parts have ended, because no statement may follow the
 * end of a transaction. If an error is only a consequence of another one, rejects with the cause.
 */
export async function settleAll<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Place in keyof Parts]: Awaited<Parts[Place]> }> {
  const settling = Promise.allSettled(parts);
  return Promise.all(parts).catch(async (first: unknown) => {
    const settled = await settling;
    if (!isConsequence(first)) throw first;
    const reasons = settled.flatMap((result): unknown[] =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    throw reasons.find((reason) => !isConsequence(reason)) ?? first;
  });
}
