import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { declaredBudget } from './budgets.mjs';

/** Budgets of a file and a test in seconds, on a quiet machine. */
const FILE_BUDGET = 20;
const TEST_BUDGET = 3;

/** Multiples of a budget beyond which the run fails. On a shared machine a test varies more than its file. */
const FILE_TOLERANCE = 2;
const TEST_TOLERANCE = 3;
/** Milliseconds of the fixed computation on two quiet cores. */
const QUIET_MS = 30;
/** Interval of the fixed computation while tests run. */
const CALIBRATE_MS = 10_000;
const SHOWN_FILES = 10;
/** Environment variable of the second measurement. */
const SECOND_RUN = 'BUDGET_SECOND_MEASUREMENT';

/** @typedef {{ path: string, text: string }} Excess */

/**
 * Jest reporter that prints the slowest files and the files over their budget, and fails the run if a file or a
 * test far exceeds its budget twice: in the run, and when its file runs again alone. A single pause of a shared
 * machine does not fail a test. Budgets grow by the ratio between the time of a fixed computation and its time
 * on a quiet machine.
 *
 * @implements {Pick<import('@jest/reporters').Reporter, 'onRunComplete' | 'getLastError'>}
 */
export default class BudgetReporter {
  /** @type {import('@jest/test-result').AggregatedResult['testResults']} */
  #files = [];
  #slowness = [slowness()];
  #timer = setInterval(() => this.#slowness.push(slowness()), CALIBRATE_MS).unref();
  /** @type {Error | undefined} */
  #error;
  #root;

  /** @param {import('@jest/types').Config.GlobalConfig} globalConfig */
  constructor({ rootDir }) {
    this.#root = rootDir;
  }

  /**
   * @param {unknown} _test
   * @param {import('@jest/test-result').TestResult} result
   */
  onTestResult(_test, result) {
    this.#files.push(result);
  }

  /**
   * @param {unknown} _contexts
   * @param {import('@jest/test-result').AggregatedResult} results
   */
  onRunComplete(_contexts, { numFailedTests }) {
    clearInterval(this.#timer);
    const factor = Math.max(1, median(this.#slowness));
    const rows = this.#files
      .map((file) => ({ file, seconds: file.perfStats.runtime / 1000 }))
      .sort((a, b) => b.seconds - a.seconds);
    const slow = rows.flatMap(({ file, seconds }) => this.#excessOf(file, seconds, factor, factor));
    const excesses = rows.flatMap(({ file, seconds }) =>
      this.#excessOf(file, seconds, FILE_TOLERANCE * factor, TEST_TOLERANCE * factor),
    );
    if (rows.length > SHOWN_FILES) {
      console.log('\nSlowest files, in seconds:');
      for (const { file, seconds } of rows.slice(0, SHOWN_FILES)) {
        console.log(
          `  ${seconds.toFixed(1).padStart(6)}  ${relative(this.#root, file.testFilePath)}`,
        );
      }
    }
    if (slow.length === 0) return;
    console.log(`\nOver budget, on a machine ${factor.toFixed(1)} times as slow as a quiet one:`);
    for (const { text } of slow) console.log(`  ${text}`);
    // Budgets are not for deep tests, which do more.
    if (excesses.length === 0 || process.env.TEST_DEPTH === 'deep') return;
    const message = `Far over budget: ${excesses.map(({ text }) => text).join('; ')}`;
    console.log(message);
    const isFinal = process.env[SECOND_RUN] !== undefined || numFailedTests > 0;
    if (isFinal || !this.#passesAlone(excesses)) this.#error = new Error(message);
  }

  /**
   * Runs files again without other files, and returns true if they pass.
   *
   * @param {Excess[]} excesses
   */
  #passesAlone(excesses) {
    const paths = new Set(excesses.map(({ path }) => path));
    console.log(`Measuring again: ${[...paths].join(', ')}`);
    const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'));
    const { status } = spawnSync(process.execPath, [jest, '--runTestsByPath', ...paths], {
      cwd: this.#root,
      env: { ...process.env, [SECOND_RUN]: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return status === 0;
  }

  getLastError() {
    return this.#error;
  }

  /**
   * @param {import('@jest/test-result').TestResult} file
   * @param {number} seconds
   * @param {number} fileFactor how many times its budget the file may take
   * @param {number} testFactor how many times its budget a test may take
   * @returns {Excess[]}
   */
  #excessOf(file, seconds, fileFactor, testFactor) {
    const path = relative(this.#root, file.testFilePath);
    const declared = declaredBudget(file.testFilePath);
    const budget = declared ?? FILE_BUDGET;
    if (seconds > budget * fileFactor) {
      return [{ path, text: `${path}: ${seconds.toFixed(1)} s of ${budget}` }];
    }
    if (declared) return [];
    return file.testResults
      .filter(({ duration }) => (duration ?? 0) / 1000 > TEST_BUDGET * testFactor)
      .map(({ duration, fullName }) => {
        const taken = ((duration ?? 0) / 1000).toFixed(1);
        return { path, text: `${path}: "${fullName}" ${taken} s of ${TEST_BUDGET}` };
      });
  }
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1;
}

/** Returns the ratio between the time of a fixed computation and its time on a quiet machine. */
function slowness() {
  const startedAt = performance.now();
  const block = Buffer.alloc(1 << 20, 'yardstick');
  const hash = createHash('sha256');
  for (let round = 0; round < 24; round += 1) hash.update(block);
  hash.digest();
  return (performance.now() - startedAt) / QUIET_MS;
}
