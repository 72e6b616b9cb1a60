import type { CleanupKind } from './system-job.entity.js';

/** Maximum number of rows per statement, which keeps locks short. */
const BATCH = 500;

/** The removal of objects of one kind, in batches. Each batch is a separate short transaction. */
export interface Removal {
  /** Name of the objects, in the plural. */
  readonly objects: string;
  /** Returns the number of objects to remove. */
  count(): Promise<number>;
  /** Removes the objects, and yields the number of removed objects after each batch. */
  batches(): AsyncIterable<number>;
}

/** The cleanups that system jobs run; implemented by the feature `retention`. */
export abstract class Cleanups {
  /** @param days age in days from which objects are removed; null for the default of the kind */
  abstract of(kind: CleanupKind, days: number | null): Removal;
}

/** Repeats a statement that changes up to `limit` rows until it changes fewer. */
export async function* inBatches(
  change: (limit: number) => Promise<number>,
): AsyncGenerator<number> {
  for (let changed = BATCH; changed === BATCH;) {
    changed = await change(BATCH);
    yield changed;
  }
}

/** Returns the sum of all batches, after the last batch. */
export async function sumOfBatches(batches: AsyncIterable<number>): Promise<number> {
  let total = 0;
  for await (const removed of batches) total += removed;
  return total;
}
