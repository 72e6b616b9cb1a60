/**
 * Jest's own runner of tests, with another way to load a spec file: what it imports is loaded by
 * Node, from `dist`, and once for a worker instead of once for each file
 * (docs/decisions/0071-test-runner.md).
 */
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const { default: circus } = require('jest-circus/runner');

/** What the framework keeps on the globals from one file to the next. */
const KEPT = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'];

/** Node's limit; Jest sets a higher one, which makes every error that is thrown dearer. */
const STACK_FRAMES = 10;

// Lets spec files share what is dear to start (test/support/boot.ts). Jest has the worker stop
// listening when there are no more files: all that they shared ends here. Without a worker Jest
// itself runs the files, and each of them cleans up.
if (process.send) {
  globalThis[Symbol.for('spec files share a process')] = true;
  process.on('removeListener', (name) => {
    if (name === 'message' && process.listenerCount(name) === 0) process.exit();
  });
}

export default function runNatively(globalConfig, config, environment, runtime, testPath, tell) {
  // A file that chose another environment is loaded by Jest.
  if (environment.getVmContext() !== null)
    return circus(globalConfig, config, environment, runtime, testPath, tell);
  for (const name of KEPT) delete globalThis[Symbol.for(name)];
  Error.stackTraceLimit = STACK_FRAMES;
  globalThis.jest = runtime.jestGlobals.jestObjectFor(testPath);
  runtime.requireInternalModule = (path) => {
    // The framework begins anew with each file.
    delete require.cache[path];
    return require(path);
  };
  runtime.unstable_shouldLoadAsEsm = () => true;
  runtime.unstable_importModule = (path) => import(compiled(path, config));
  return circus(globalConfig, config, environment, runtime, testPath, tell);
}

/** Returns the URL of the compiled form of a spec file, which `npm test` makes before it starts Jest. */
function compiled(path, { rootDir }) {
  const source = relative(rootDir, path);
  return pathToFileURL(join(rootDir, 'dist', source.replace(/\.ts$/, '.js'))).href;
}
