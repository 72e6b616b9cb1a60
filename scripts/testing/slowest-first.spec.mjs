import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SlowestFirst from './slowest-first.mjs';

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A test file as Jest hands it to its sequencer.
 *
 * @param {string} name
 * @param {string} text
 */
function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  const config = { cache: true, cacheDirectory: folder, id: 'one', haste: {} };
  return /** @type {import('@jest/test-result').Test} */ (
    /** @type {unknown} */ ({ path, context: { config, hasteFS } })
  );
}

/** Stands for Jest's index of files: it knows their sizes. */
const hasteFS = { getSize: (/** @type {string} */ path) => statSync(path).size };

/** @type {SlowestFirst} */
let sequencer;
beforeEach(() => {
  const options = { contexts: [], globalConfig: {} };
  sequencer = new SlowestFirst(
    /** @type {ConstructorParameters<typeof SlowestFirst>[0]} */ (/** @type {unknown} */ (options)),
  );
});

/** @param {import('@jest/test-result').Test[]} tests */
const order = async (tests) =>
  (await sequencer.sort(tests)).map(({ path }) => path.slice(folder.length + 1));

/** @param {number} seconds */
const budget = (seconds) =>
  `/**\n * A file.\n *\n * Budget: ${seconds} s, because it waits.\n */\n`;

it('files without a known duration are sorted by their declared budgets, largest first', async () => {
  const large = `/* ${'x'.repeat(5000)} */`;
  const files = [file('none', large), file('some', budget(30)), file('most', budget(60))];
  expect(await order(files)).toEqual(['most', 'some', 'none']);
});

it('a measured duration has precedence over the declared budget', async () => {
  const files = [file('some', budget(30)), file('none', ''), file('new', budget(20))];
  const testResults = [5, 40].map((seconds, index) => ({
    testFilePath: files[index]?.path,
    numFailingTests: 0,
    skipped: false,
    perfStats: { runtime: seconds * 1000 },
  }));
  const results = /** @type {import('@jest/test-result').AggregatedResult} */ (
    /** @type {unknown} */ ({ testResults })
  );
  sequencer.cacheResults(files, results);
  expect(await order(files)).toEqual(['none', 'new', 'some']);
});
