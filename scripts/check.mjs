/**
 * `npm run check`: format, lint, types, measures, OpenAPI and migration drift, as many in parallel as there
 * are processors. Prints the findings of each, and exits 1 if there are any.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Problem, reportFailure } from './console/problem.mjs';
import { print } from './console/progress.mjs';
import { run } from './processes/run.mjs';
import { provideForTests, withThrowawayServices } from './setup/test-run.mjs';

/** @typedef {{ title: string, commands: readonly (readonly string[])[], isReport?: boolean }} Check */

/** Timeout of a hanging check. On a busy machine a check takes several times as long. */
const LIMIT_MS = 10 * 60_000;
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const cache = join(modules, '.cache', 'check');
const cli = join(root, 'dist', 'cli.js');

try {
  mkdirSync(cache, { recursive: true });
  await provideForTests(root);
  const failed = await withThrowawayServices(root, checkAll);
  process.exitCode ||= failed;
} catch (error) {
  reportFailure(error);
  process.exitCode ||= 1;
}

/** @param {NodeJS.ProcessEnv} environment */
async function checkAll(environment) {
  const checks = [...staticChecks(), ...(await commandChecks(environment))];
  let failed = 0;
  const next = async () => {
    for (let check = checks.shift(); check; check = checks.shift()) {
      // Not `failed += …await`: this would read `failed` before the wait, and lose concurrent failures.
      const hasPassed = await perform(check, environment);
      if (!hasPassed) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
  return failed === 0 ? 0 : 1;
}

/**
 * @param {Check} check
 * @param {NodeJS.ProcessEnv} environment
 */
async function perform({ title, commands, isReport = false }, environment) {
  const startedAt = Date.now();
  const { hasPassed, output } = await runCommands(commands, { title, environment });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  print(`${hasPassed ? '✓' : '✗'} ${title} (${seconds} s)`);
  if (!hasPassed || isReport) print(output.trimEnd());
  return hasPassed;
}

/**
 * @param {Check['commands']} commands
 * @param {{ title: string, environment: NodeJS.ProcessEnv }} context
 */
async function runCommands(commands, { title, environment }) {
  let outputs = '';
  for (const args of commands) {
    const options = { cwd: root, env: environment, name: title, timeoutMs: LIMIT_MS };
    try {
      const { output } = await run(process.execPath, args, options);
      outputs += output;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { hasPassed: false, output: error.output || error.message };
    }
  }
  return { hasPassed: true, output: outputs };
}

// Slowest checks first, so that short checks fill the remaining time.
/** @returns {Check[]} */
function staticChecks() {
  /** @param {string} name */
  const cached = (name) => ['--cache', '--cache-location', join(cache, name)];
  return [
    {
      title: 'Lint',
      commands: [[join(modules, 'eslint', 'bin', 'eslint.js'), '.', ...cached('lint')]],
    },
    { title: 'Lint that needs types', commands: [[join(modules, 'oxlint', 'bin', 'oxlint')]] },
    { title: 'Types', commands: [typeCheckOf('tsconfig.json', 'types')] },
    {
      title: 'Types of the scripts',
      commands: [typeCheckOf(join('scripts', 'tsconfig.json'), 'scripts')],
    },
    {
      title: 'Measures',
      commands: [[join(root, 'scripts', 'measures.mjs')]],
      isReport: true,
    },
    {
      title: 'Format',
      commands: [
        [join(modules, 'prettier', 'bin', 'prettier.cjs'), '--check', '.', ...cached('format')],
      ],
    },
  ];
}

/**
 * Returns the arguments of a type check without output.
 *
 * @param {string} project
 * @param {string} name of the cache file
 */
function typeCheckOf(project, name) {
  return [
    join(modules, 'typescript-native', 'bin', 'tsc'),
    '-p',
    project,
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    join(cache, `${name}.tsbuildinfo`),
  ];
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<Check[]>}
 */
async function commandChecks(environment) {
  if (!existsSync(cli)) return [];
  const { output } = await run(process.execPath, [cli, '--help'], {
    cwd: root,
    env: environment,
    anyCode: true,
    timeoutMs: LIMIT_MS,
  });
  return [
    { title: 'OpenAPI document', command: 'openapi', commands: [[cli, 'openapi', '--check']] },
    {
      title: 'Migrations',
      command: 'migration-check',
      commands: [
        [cli, 'migrate'],
        [cli, 'migration-check'],
      ],
    },
  ].filter(({ command }) => output.includes(command));
}
