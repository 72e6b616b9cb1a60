import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time in ms that long work occupies the event loop between yields. */
const MAX_BLOCK_MS = 10;

/** Splits long work: yields to the event loop between steps if the work has occupied it for long. */
export class Yielder {
  private since = performance.now();

  /** Returns immediately, or after other work in the event loop has run. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.since < MAX_BLOCK_MS) return;
    await nextTurn();
    this.since = performance.now();
  }
}
