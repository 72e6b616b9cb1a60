/**
 * `npm run test:watch [-- <patterns>]`: keeps PostgreSQL and Redis running, and after each change builds
 * and runs the tests that match the patterns. Without patterns: the changed spec files, and the unit
 * tests that import changed files. Ctrl-C ends it.
 */
import { watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { reportFailure } from './console/problem.mjs';
import { print } from './console/progress.mjs';
import {
  provideForTests,
  runAttached,
  startsProduct,
  withThrowawayServices,
} from './setup/test-run.mjs';

/** Time to wait for further changes: editors write several files, or one file several times. */
const SETTLE_MS = 200;
const FOLDERS = ['src', 'test', 'migrations', 'scripts'];

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const patterns = process.argv.slice(2);
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');

try {
  await provideForTests(root);
  await withThrowawayServices(root, async (environment) => {
    if (patterns.length > 0) await runAttached([jest, ...patterns], { root, environment });
    for await (const changed of changes()) {
      try {
        const product = startsProduct(patterns.length > 0 ? patterns : changed);
        await provideForTests(root, { programs: false, product });
        for (const args of runsFor(changed))
          await runAttached([jest, ...args], { root, environment });
      } catch (error) {
        reportFailure(error); // A source does not compile; the next change may fix it.
      }
    }
  });
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}

/** Yields the files that have changed since the previous result, relative to the project. */
async function* changes() {
  /** @type {Set<string>} */
  let changed = new Set();
  let wake = () => {};
  for (const folder of FOLDERS) {
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name === null) return;
      changed.add(join(folder, name));
      wake();
    });
  }
  for (;;) {
    print('\nWaiting for changes');
    if (changed.size === 0) await new Promise((done) => (wake = () => done(undefined)));
    await new Promise((done) => setTimeout(done, SETTLE_MS));
    const found = changed;
    changed = new Set();
    yield [...found];
  }
}

/**
 * Returns the arguments of Jest for each run that a change needs.
 *
 * @param {readonly string[]} changed
 * @returns {(readonly string[])[]}
 */
function runsFor(changed) {
  if (patterns.length > 0) return [patterns];
  const isSpec = (/** @type {string} */ path) => /spec\.(ts|mjs)$/.test(path);
  const specs = changed.filter(isSpec);
  const sources = changed.filter((path) => path.startsWith('src/') && !isSpec(path));
  const related = ['--selectProjects', 'unit', '--passWithNoTests', '--findRelatedTests'];
  return [
    ...(specs.length > 0 ? [specs] : []),
    ...(sources.length > 0 ? [[...related, ...sources]] : []),
  ];
}
