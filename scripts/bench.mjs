/**
 * `npm run bench [-- <suite>… <rows>]`: the product against the raw primitive in one run on one
 * machine. The raw server sends the same SQL and the same bytes through `node:http` and `pg`,
 * nothing else; only the ratios mean something on another machine. A benchmark, never a test.
 *
 * Without a suite all are run; a number is how many hosts the lists have.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Problem, reportFailure } from './console/problem.mjs';
import { provideForTests, withThrowawayServices } from './setup/test-run.mjs';
import { SUITES } from './bench/suites.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const words = process.argv.slice(2);
const rows = Number(words.find((word) => /^\d+$/.test(word)) ?? 1_000_000);
const names = words.filter((word) => !/^\d+$/.test(word));

try {
  const unknown = names.filter((name) => !SUITES.has(name));
  if (unknown.length > 0) {
    throw new Problem(
      `No suite is called ${unknown[0]}. There are: ${[...SUITES.keys()].join(' ')}`,
    );
  }
  const wanted = names.length > 0 ? names : [...SUITES.keys()];
  await provideForTests(root);
  await withThrowawayServices(root, async (environment) => {
    for (const name of wanted) await SUITES.get(name)({ root, environment, rows });
  });
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
