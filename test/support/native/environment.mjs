/**
 * Test environment with the globals of the process, in place of the context that Jest creates for each spec
 * file. Changes to the globals or the environment variables are reverted at the end of the file.
 */
// Loaded first, because contexts get the globals that exist when this module is loaded, without those that
// TypeORM adds later for the entities of the process.
import 'jest-environment-node';
import { ModuleMocker } from 'jest-mock';

export default class NativeEnvironment {
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #console = globalThis.console;
  #variables = { ...process.env };

  constructor() {
    // Jest replaces `exit` of this object for each file. The `exit` of the worker must stay unchanged.
    const ownProcess = Object.create(process);
    this.global = new Proxy(globalThis, {
      get: (target, name) => (name === 'process' ? ownProcess : Reflect.get(target, name)),
    });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Returns null, because code is compiled for the process. */
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
