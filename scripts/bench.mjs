/**
 * `npm run bench [-- <suite>…] [--rows <hosts>] [--seconds <of a turn>] [--turns <number>]
 * [--only <part of a name>] [--record <file>]`: the product against its limit, a server of a few lines
 * that answers the same questions with the least SQL (docs/decisions/0072-bench-limit.md), in
 * one run on one machine; only the ratios mean something on another. A benchmark, never a test.
 *
 * Without a suite all are run. `growth` asks the same of tables of several sizes, up to `--rows`.
 * `--record` keeps all figures as JSON.
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
 * What holds where an option does not say: hosts that lists have, seconds of a turn, and so many turns that
 * two runs agree within a tenth; a few are enough for a look.
 */
const USUAL = { rows: 52_000, seconds: 0.4, turns: 72 };
/** Suites that differ from it. @type {Record<string, Partial<typeof USUAL>>} */
const OWN = { growth: { rows: 1_000_000, seconds: 1 } };

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
    throw new Problem(`No suite is called ${unknown}. There are: ${[...SUITES.keys()].join(' ')}`);
  }
  const isWanted = (/** @type {string} */ name) =>
    positionals.length === 0 || positionals.includes(name);
  const { rows, seconds, turns } = values;
  const given = Object.fromEntries(
    Object.entries({ rows, seconds, turns }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Number(value)]],
    ),
  );
  await provideForTests(root);
  const measure = async (/** @type {NodeJS.ProcessEnv} */ environment) => {
    const reports = [];
    for (const [name, bench] of SUITES) {
      if (!isWanted(name)) continue;
      const settings = { ...USUAL, ...OWN[name], ...given };
      reports.push(await bench({ root, environment, only: values.only, ...settings }));
    }
    if (values.record === undefined) return;
    const run = { at: new Date().toISOString(), cores: availableParallelism(), reports };
    writeFileSync(values.record, `${JSON.stringify(run, null, 2)}\n`);
  };
  // What is measured may be large, and on the disk of a service.
  await withThrowawayServices(root, measure, { onDisk: true });
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}
