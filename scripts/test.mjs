/**
 * `npm test [-- <arguments of jest>]`: runs every test layer with its own PostgreSQL and Redis,
 * which are removed afterwards. The exit code is the exit code of Jest. Paths below `src` and `scripts` start
 * no services, because their tests need none, except tests of `scripts/bench`. The programs of the product are
 * not bundled for layers that start none.
 */
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
import { ProcessorTime } from './testing/processor-time.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const files = args.filter((argument) => !argument.startsWith('-'));
const needsServices =
  files.length === 0 || !files.every((path) => /^(?:src|scripts\/(?!bench\/))/.test(path));

try {
  const time = new ProcessorTime();
  await provideForTests(root, { programs: needsServices, product: startsProduct(files) });
  const code = await withThrowawayServices(
    root,
    (environment) => {
      const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
      return runAttached([jest, ...args], { root, environment });
    },
    { postgres: needsServices, redis: needsServices },
  );
  process.exitCode ||= code;
  if (files.length === 0) printTime(time.stop());
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}

/** @param {ReturnType<ProcessorTime['stop']>} time */
function printTime({ total, kinds }) {
  print(`\nProcessor time: ${total.toFixed(0)} s`);
  for (const [kind, seconds] of kinds) print(`  ${seconds.toFixed(0).padStart(6)}  ${kind}`);
}
