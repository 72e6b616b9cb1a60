/**
 * The layers of tests, one row each: a name for `--selectProjects` and the files it holds.
 * package.json points here, so that `npm test`, `npx jest` and editors read the same.
 */
import { dirname, join } from 'node:path';

const rootDir = dirname(import.meta.dirname);

/** Outlives a run, whose TMPDIR does not: what was compiled once is not compiled again. */
const CACHE = join(rootDir, 'node_modules', '.cache', 'jest');

/**
 * Tests call the product in their own process: a worker loads it once, from `dist`. A file that needs
 * modules or a clock of its own starts with `@jest-environment node`, and is transformed by Jest.
 */
const NATIVE = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testEnvironmentOptions: { globalsCleanup: 'off' },
  testEnvironment: '<rootDir>/test/support/native/environment.mjs',
  testRunner: '<rootDir>/test/support/native/runner.mjs',
};

/**
 * @param {string} displayName
 * @param {string} files
 * @param {object} settings
 */
const layer = (displayName, files, settings = NATIVE) => ({
  displayName,
  rootDir,
  cacheDirectory: CACHE,
  roots: [`<rootDir>/${files.split('/', 1)[0]}`],
  testMatch: [`<rootDir>/${files}`],
  ...settings,
});

export default {
  rootDir,
  maxWorkers: 2,
  workerIdleMemoryLimit: '1500MB',
  // Ends Chromium and removes its profile when it exits, which takes 0.1 s on a quiet machine.
  workerGracefulExitTimeout: 10_000,
  // No promise of the product: a machine that others use may be five times as slow.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/scripts/testing/dearest-first.mjs',
  reporters: ['default', '<rootDir>/scripts/testing/budget-reporter.mjs'],
  projects: [
    layer('unit', 'src/**/*.spec.ts'),
    layer('architecture', 'test/architecture/**/*.spec.ts'),
    layer('migrations', 'test/migrations/**/*.spec.ts'),
    layer('api', 'test/{api,access,security}/**/*.e2e-spec.ts'),
    layer('queue', 'test/queue/**/*.spec.ts'),
    layer('runner', 'test/runner/**/*.spec.ts'),
    layer('faults', 'test/faults/**/*.spec.ts'),
    layer('browser', 'test/browser/**/*.spec.ts'),
    layer('scripts', 'scripts/**/*.spec.mjs', { transform: {} }),
  ],
};
