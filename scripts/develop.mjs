/**
 * Commands for working on the code, run by the admin command line against an empty throw-away
 * database: `openapi`, `routes`, `migration-new <name>`, `migration-check`.
 */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { reportFailure } from './console/problem.mjs';
import { provideForTests, runAttached, withThrowawayServices } from './setup/test-run.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

try {
  await provideForTests(root);
  const code = await withThrowawayServices(root, (environment, children) =>
    runAttached([join(root, 'dist', 'src', 'cli.js'), ...process.argv.slice(2)], {
      root,
      environment,
      children,
    }),
  );
  process.exitCode ||= code;
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
