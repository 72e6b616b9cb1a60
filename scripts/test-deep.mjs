/**
 * `npm run test:deep [-- <slice>… | --today] [--seed <number>] [--reports <folder>]`: the tests that are
 * too long for every change. Files run with `TEST_DEPTH=deep` and try more cases. Without a slice, all
 * slices run; `--today` runs the slices of this day of the week.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Problem, reportFailure } from './console/problem.mjs';
import { print } from './console/progress.mjs';
import { runAttached } from './setup/test-run.mjs';
import { nodeProgram, postgresPackage, pythonClient } from './testing/releases.mjs';

/**
 * A slice: arguments of Jest, or of the bench, and the programs and variables that it runs with.
 *
 * @typedef {{ jest?: readonly string[], bench?: readonly string[],
 *   provide?: () => Promise<{ node?: string, environment?: NodeJS.ProcessEnv }> }} Slice
 */

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const PROCESS_PROJECTS = ['runner', 'faults', 'queue'];

/** @type {Record<string, Slice>} */
const SLICES = {
  kills: { jest: ['test/faults'] },
  sandbox: { jest: ['test/runner', 'test/security/', 'test/queue/container'] },
  fuzz: {
    jest: [
      'test/security/(openapi-fuzz|odd-input|json-bombs|webhook-)',
      'test/architecture/readers',
    ],
  },
  models: { jest: ['test/access', 'test/queue/(workflow|transitions)', 'src/'] },
  order: { jest: ['--randomize', '--selectProjects', 'unit', 'architecture', 'api', 'queue'] },
  pages: { jest: ['test/browser'] },
  growth: { bench: ['growth', '--rows', '1000000', '--seconds', '0.5'] },
  'node-lts': {
    jest: ['--selectProjects', 'unit', 'api', 'faults'],
    provide: async () => ({ node: await nodeProgram(root, '24') }),
  },
  'node-current': {
    jest: ['--selectProjects', 'unit', 'api', 'faults'],
    provide: async () => ({ node: await nodeProgram(root, '26') }),
  },
  // Other tests use the newest release of Ansible that the Python of the machine supports.
  'ansible-of-system': {
    jest: ['--selectProjects', ...PROCESS_PROJECTS],
    provide: async () => ({ environment: { SYSTEM_ANSIBLE: '1' } }),
  },
  // Samba as a domain controller, which no other test needs.
  domain: {
    jest: ['test/api/directory-domain'],
    provide: async () => ({ environment: { TEST_DOMAIN: '1' } }),
  },
  // The system's PostgreSQL, whose programs make dumps, and two starts of a copy of this folder.
  backup: {
    jest: ['test/faults/backup'],
    provide: async () => ({ environment: { TEST_BACKUP: '1' } }),
  },
  // Docker with Compose, which the machine must have.
  compose: {
    jest: ['test/faults/compose'],
    provide: async () => ({ environment: { TEST_COMPOSE: '1' } }),
  },
  'python-client': {
    jest: ['test/api/python-client'],
    provide: async () => ({ environment: await pythonClient(root) }),
  },
  'postgres-oldest': {
    jest: ['--selectProjects', 'migrations', 'architecture', 'api', 'queue'],
    provide: async () => ({ environment: await postgresPackage(root, '17.0.0-beta.13') }),
  },
};

/**
 * Slices by day of the week, Sunday first. Other slices have not yet passed within the time limit of CI: run
 * them by name.
 */
const WEEK = [['fuzz'], ['node-lts'], ['sandbox'], ['node-lts'], ['fuzz'], ['sandbox'], ['fuzz']];

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      today: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      reports: { type: 'string', default: join(root, 'dist', 'deep') },
    },
  });
  const today = values.today ? (WEEK[new Date().getDay()] ?? []) : Object.keys(SLICES);
  const names = positionals.length > 0 ? positionals : today;
  mkdirSync(values.reports, { recursive: true });
  /** @type {string[]} */
  const failed = [];
  for (const name of names) {
    const slice = SLICES[name];
    if (!slice)
      throw new Problem(`Unknown slice ${name}. Choose from: ${Object.keys(SLICES).join(' ')}`);
    print(`\n== Deep tests: ${name}, seed ${values.seed}`);
    const code = await runSlice(slice, values.seed, join(values.reports, `${name}.json`));
    if (code !== 0) failed.push(name);
  }
  print(failed.length === 0 ? '\nDeep tests passed' : `\nDeep tests failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} catch (error) {
  reportFailure(error);
  process.exitCode = 1;
}

/**
 * @param {Slice} slice
 * @param {string} seed
 * @param {string} report
 */
async function runSlice({ jest, bench = [], provide }, seed, report) {
  const { node, environment } = (await provide?.()) ?? {};
  const args = jest
    ? [join(root, 'scripts', 'test.mjs'), ...jest, '--seed', seed, '--json', '--outputFile', report]
    : [join(root, 'scripts', 'bench.mjs'), ...bench];
  return runAttached(args, {
    root,
    node,
    environment: { ...process.env, TEST_DEPTH: 'deep', ...environment },
  });
}
