/**
 * The globals of the process itself, where Jest's own environment makes a context for each spec file.
 * What a file leaves on them, or in the environment variables, is taken back when it is over.
 */
// Its contexts get the globals that exist when it is loaded, and not those that TypeORM adds later for
// the entities of the process.
import 'jest-environment-node';
import { ModuleMocker } from 'jest-mock';

export default class NativeEnvironment {
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #console = globalThis.console;
  #variables = { ...process.env };

  constructor() {
    // Jest wraps `exit` of what it finds here for each file; the worker's own has to stay as it is.
    const ownProcess = Object.create(process);
    this.global = new Proxy(globalThis, {
      get: (target, name) => (name === 'process' ? ownProcess : Reflect.get(target, name)),
    });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** None: code is compiled for the process. */
  getVmContext() {
    return null;
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.#console;
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
  }
}
