/**
 * Jest's own test runner, except that Node loads the imports of a spec file from `dist`, once per worker
 * instead of once per file (docs/decisions/0071-test-runner.md).
 */
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const { default: circus } = require('jest-circus/runner');
const hooks = require('node:async_hooks');
/** Newer releases of Node define a getter. */
const STORAGE_CLASS = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage');

/** Globals that the framework keeps between files. */
const KEPT = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'];

const SIGTERM_EXIT_CODE = 143;

/** Limit of Node. Jest sets a higher one, which makes every thrown error more expensive. */
const STACK_FRAMES = 10;

// Lets spec files share expensive resources (test/support/boot.ts). Jest disconnects the worker when there
// are no more files, which ends the shared resources. Without a worker Jest itself runs the files, and each
// of them cleans up.
if (process.send) {
  globalThis[Symbol.for('spec files share a process')] = true;
  process.on('removeListener', (name) => {
    if (name === 'message' && process.listenerCount(name) === 0) process.exit();
  });
  // Jest restarts a worker above its memory limit by SIGTERM, and can already have sent the next file to it. The
  // worker must exit immediately, or the file would find the shared application shutting down; Jest sends the file
  // again to the new worker.
  process.on('SIGTERM', () => process.exit(SIGTERM_EXIT_CODE));
}

export default function runNatively(globalConfig, config, environment, runtime, testPath, send) {
  const run = () =>
    withoutLeftStorages(circus, globalConfig, config, environment, runtime, testPath, send);
  // Jest loads files that chose another environment.
  if (environment.getVmContext() !== null) return run();
  for (const name of KEPT) delete globalThis[Symbol.for(name)];
  Error.stackTraceLimit = STACK_FRAMES;
  globalThis.jest = runtime.jestGlobals.jestObjectFor(testPath);
  runtime.requireInternalModule = (path) => {
    // Each file gets a fresh framework.
    delete require.cache[path];
    return require(path);
  };
  runtime.unstable_shouldLoadAsEsm = () => true;
  runtime.unstable_importModule = (path) => import(compiled(path, config));
  return run();
}

/**
 * Runs a file, and then disables the storages that its framework has created. Node copies the value of every
 * enabled storage to each new promise: after a hundred files a promise would take thirty times as long.
 */
async function withoutLeftStorages(circus, ...parameters) {
  const storages = [];
  const recording = class extends hooks.AsyncLocalStorage {
    constructor() {
      super();
      storages.push(this);
    }
  };
  Object.defineProperty(hooks, 'AsyncLocalStorage', { value: recording, configurable: true });
  // Loads the framework before it returns a promise.
  const running = circus(...parameters);
  Object.defineProperty(hooks, 'AsyncLocalStorage', STORAGE_CLASS);
  try {
    return await running;
  } finally {
    for (const storage of storages) storage.disable();
  }
}

/** Returns the URL of the compiled form of a spec file, which `npm test` writes before it starts Jest. */
function compiled(path, { rootDir }) {
  const source = relative(rootDir, path);
  return pathToFileURL(join(rootDir, 'dist', source.replace(/\.ts$/, '.js'))).href;
}
