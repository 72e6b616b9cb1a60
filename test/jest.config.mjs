/**
 * The layers of tests, one row each: a name for `--selectProjects` and the files it holds.
 * package.json points here, so that `npm test`, `npx jest` and editors read the same.
 */
import { dirname, join } from 'node:path';

const rootDir = dirname(import.meta.dirname);

/** Outlives a run, whose TMPDIR does not: what was compiled once is not compiled again. */
const CACHE = join(rootDir, 'node_modules', '.cache', 'jest');

const TYPESCRIPT = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testEnvironmentOptions: { globalsCleanup: 'off' },
};

/**
 * Layers whose tests call the product in their own process: a worker loads it once, from `dist`.
 * A file that needs modules or a clock of its own starts with `@jest-environment node`.
 */
const NATIVE = {
  ...TYPESCRIPT,
  testEnvironment: '<rootDir>/test/support/native/environment.mjs',
  testRunner: '<rootDir>/test/support/native/runner.mjs',
};

/** Layers whose tests start programs or stop services. */
const LONG = { ...TYPESCRIPT, setupFilesAfterEnv: ['<rootDir>/test/support/long-tests.ts'] };

/**
 * @param {string} displayName
 * @param {string} files
 * @param {object} settings
 */
const layer = (displayName, files, settings = TYPESCRIPT) => ({
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
  // No promise of the product: a machine that others use may be five times as slow.
  testTimeout: 180_000,
  reporters: ['default', '<rootDir>/scripts/testing/budget-reporter.mjs'],
  projects: [
    layer('unit', 'src/**/*.spec.ts', NATIVE),
    layer('architecture', 'test/architecture/**/*.spec.ts', NATIVE),
    layer('migrations', 'test/migrations/**/*.spec.ts', NATIVE),
    layer('api', 'test/{api,access,security}/**/*.e2e-spec.ts', NATIVE),
    layer('queue', 'test/queue/**/*.spec.ts', NATIVE),
    layer('runner', 'test/runner/**/*.spec.ts', LONG),
    layer('faults', 'test/faults/**/*.spec.ts', LONG),
    layer('browser', 'test/browser/**/*.spec.ts', NATIVE),
    layer('scripts', 'scripts/**/*.spec.mjs', { transform: {} }),
  ],
};
