/**
 * `npm run bench [-- <suite>…] [--rows <hosts>] [--seconds <of a turn>] [--turns <number>]
 * [--only <part of a name>] [--record <file>]`: the product against its limit, a server of a few lines
 * that answers the same questions with the least SQL (docs/decisions/0072-the-limit-of-the-bench.md), in
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

/** Hosts that lists have, where `--rows` does not say. @type {Record<string, number>} */
const ROWS = { growth: 1_000_000 };
const DEFAULT_ROWS = 52_000;
/** Seconds of a turn, where `--seconds` does not say. @type {Record<string, number>} */
const SECONDS = { growth: 1 };
const DEFAULT_SECONDS = 0.4;
/**
 * Turns, where `--turns` does not say: so many that two runs agree within a tenth; a few are enough for a
 * look. Those of writes are shorter and differ more from each other. @type {Record<string, number>}
 */
const TURNS = { bulk: 112, webhooks: 112 };
const DEFAULT_TURNS = 56;

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
  await provideForTests(root);
  const measure = async (/** @type {NodeJS.ProcessEnv} */ environment) => {
    const reports = [];
    for (const [name, bench] of SUITES) {
      if (!isWanted(name)) continue;
      const rows = Number(values.rows ?? ROWS[name] ?? DEFAULT_ROWS);
      const seconds = Number(values.seconds ?? SECONDS[name] ?? DEFAULT_SECONDS);
      const turns = Number(values.turns ?? TURNS[name] ?? DEFAULT_TURNS);
      const { only } = values;
      reports.push(await bench({ root, environment, rows, seconds, turns, only }));
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
