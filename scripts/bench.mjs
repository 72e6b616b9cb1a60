/**
 * `npm run bench [-- <rows>]`: the product against the raw primitive in one run on one machine. The
 * raw server sends the same SQL and the same bytes through `node:http` and `pg`, nothing else; only
 * the ratios mean something on another machine. A benchmark, never a test.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { provideForTests, withThrowawayServices } from './setup/test-run.mjs';
import { benchLists } from './bench/lists.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const rows = Number(process.argv[2] ?? 1_000_000);

await provideForTests(root);
await withThrowawayServices(root, (environment) => benchLists({ root, environment, rows }));
