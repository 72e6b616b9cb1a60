/**
 * The test layers: a name for `--selectProjects`, and the files of each.
 * package.json points here, so that `npm test`, `npx jest` and editors use the same configuration.
 */
import { dirname, join } from 'node:path';

const rootDir = dirname(import.meta.dirname);

/** Kept between runs, unlike TMPDIR, so that files are not compiled again. */
const CACHE = join(rootDir, 'node_modules', '.cache', 'jest');

/**
 * Tests run the product in their own process: a worker loads it once, from `dist`. A file that replaces
 * modules or the clock starts with `@jest-environment node`, and is transformed by Jest.
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
  // A worker stops Chromium and removes its profile on exit, which takes 0.1 s on an idle machine.
  workerGracefulExitTimeout: 10_000,
  // Not a goal for speed: a shared machine can be five times slower.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/scripts/testing/slowest-first.mjs',
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
    layer('scripts', 'scripts/**/*.spec.mjs', { transform: {}, testRunner: NATIVE.testRunner }),
  ],
};
