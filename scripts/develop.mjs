/**
 * Commands for working on the code, run by the admin command line against an empty throw-away
 * database: `openapi`, `routes`, `migration-new <name>`, `migration-check`.
 */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { reportFailure } from './console/problem.mjs';
import { provideForTests, runAttached, withThrowawayServices } from './setup/test-run.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const args = process.argv.slice(2);

try {
  await provideForTests(root);
  const code = await withThrowawayServices(root, async (environment) => {
    /** @param {readonly string[]} commandArgs */
    const cli = (commandArgs) =>
      runAttached([join(root, 'dist', 'cli.js'), ...commandArgs], { root, environment });
    // Declarations are compared with the tables that the migrations create.
    const exitCode = args[0]?.startsWith('migration-') ? await cli(['migrate']) : 0;
    return exitCode === 0 ? cli(args) : exitCode;
  });
  process.exitCode ||= code;
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
