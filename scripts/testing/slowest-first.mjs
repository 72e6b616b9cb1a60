import sequencer from '@jest/test-sequencer';

import { declaredBudget } from './budgets.mjs';

/** @typedef {import('@jest/test-result').Test} Test */

/** The package declares its types as those of a CommonJS module, although it is imported as an ES module. */
const TestSequencer = /** @type {typeof sequencer.default} */ (/** @type {unknown} */ (sequencer));

/**
 * Runs the slowest files first, so that no worker runs a slow file alone at the end. Durations are those of the
 * last run in the cache of Jest; without a cache, the declared budgets.
 */
export default class SlowestFirst extends TestSequencer {
  /**
   * @override
   * @param {Test[]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    return sorted
      .map((test) => ({ test, seconds: secondsOf(test) }))
      .sort((a, b) => b.seconds - a.seconds)
      .map(({ test }) => test);
  }
}

/** @param {Test} test */
function secondsOf({ duration, path }) {
  return duration === undefined ? (declaredBudget(path) ?? 0) : duration / 1000;
}
