import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest piece of long work in ms, between turns for whoever else waits. */
const PIECE_MS = 10;

/** Long work in pieces: between its steps it lets the event loop serve others where it was busy for long. */
export class Turns {
  private since = performance.now();

  /** Resolves at once, or after everybody else had a turn. */
  async next(): Promise<void> {
    if (performance.now() - this.since < PIECE_MS) return;
    await nextTurn();
    this.since = performance.now();
  }
}
