import sequencer from '@jest/test-sequencer';

import { declaredBudget } from './budgets.mjs';

/** @typedef {import('@jest/test-result').Test} Test */

/** The package tells its types as those of a CommonJS module, which it is not where it is imported. */
const TestSequencer = /** @type {typeof sequencer.default} */ (/** @type {unknown} */ (sequencer));

/**
 * Runs the dearest files first, so that no worker is left alone with one of them at the end. What a file
 * took in the last run is known where Jest has its cache; elsewhere the declared budgets say it.
 */
export default class DearestFirst extends TestSequencer {
  /**
   * @override
   * @param {Test[]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    return sorted
      .map((test) => ({ test, seconds: secondsOf(test) }))
      .sort((one, other) => other.seconds - one.seconds)
      .map(({ test }) => test);
  }
}

/** @param {Test} test */
function secondsOf({ duration, path }) {
  return duration === undefined ? (declaredBudget(path) ?? 0) : duration / 1000;
}
