/**
 * `npm run bench [-- <suite>…] [--rows <hosts>] [--seconds <of a turn>] [--turns <number>]
 * [--only <part of a name>] [--record <file>]` compares the product with its limit: a server of a few lines
 * that serves the same requests with the least SQL (docs/decisions/0072-bench-limit.md), in one run on one
 * machine. Only the ratios are valid for other machines. A benchmark, never a test.
 *
 * Without a suite, all suites run. `growth` compares tables of several sizes, up to `--rows`. `--record` stores
 * all figures as JSON.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { SUITES } from './bench/suites.mjs';
import { Problem, reportFailure } from './console/problem.mjs';
import { provideForTests, withThrowawayServices } from './setup/test-run.mjs';

/**
 * Defaults of the options: hosts of the lists, seconds of a turn, and enough turns for two runs to agree
 * within a tenth. A few turns are enough for an estimate.
 */
const DEFAULTS = { rows: 52_000, seconds: 0.4, turns: 72 };
/** Suites with other defaults. @type {Record<string, Partial<typeof DEFAULTS>>} */
const SUITE_DEFAULTS = { growth: { rows: 1_000_000, seconds: 1 } };

const root = join(fileURLToPath(import.meta.url), '..', '..');

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      rows: { type: 'string' },
      seconds: { type: 'string' },
      turns: { type: 'string' },
      only: { type: 'string', default: '' },
      record: { type: 'string' },
    },
  });
  const unknown = positionals.find((name) => !SUITES.has(name));
  if (unknown !== undefined) {
    throw new Problem(`Unknown suite ${unknown}. Choose from: ${[...SUITES.keys()].join(' ')}`);
  }
  const isWanted = (/** @type {string} */ name) =>
    positionals.length === 0 || positionals.includes(name);
  const { rows, seconds, turns } = values;
  const overrides = Object.fromEntries(
    Object.entries({ rows, seconds, turns }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Number(value)]],
    ),
  );
  await provideForTests(root);
  const measure = async (/** @type {NodeJS.ProcessEnv} */ environment) => {
    const reports = [];
    for (const [name, bench] of SUITES) {
      if (!isWanted(name)) continue;
      const settings = { ...DEFAULTS, ...SUITE_DEFAULTS[name], ...overrides };
      reports.push(await bench({ root, environment, only: values.only, ...settings }));
    }
    if (values.record === undefined) return;
    const run = { at: new Date().toISOString(), cores: availableParallelism(), reports };
    writeFileSync(values.record, `${JSON.stringify(run, null, 2)}\n`);
  };
  // The measured databases may be large, so their files are on disk, like those of a service.
  await withThrowawayServices(root, measure, { onDisk: true });
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
