/**
 * `npm test [-- <arguments of jest>]`: every test layer against a PostgreSQL and a Redis of its
 * own, which disappear afterwards. The exit code is that of jest.
 */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { reportFailure } from './console/problem.mjs';
import { provideForTests, runAttached, withThrowawayServices } from './setup/test-run.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);

try {
  await provideForTests(root);
  const code = await withThrowawayServices(root, (environment) => {
    const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
    return runAttached([jest, ...args], { root, environment });
  });
  process.exitCode ||= code;
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
