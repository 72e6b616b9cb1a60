import { spawn } from 'node:child_process';
import { closeSync, copyFileSync, fstatSync, openSync, statSync, truncateSync } from 'node:fs';

import { recordOf } from './identity.mjs';

const FIRST_RESTART_MS = 1000;
const LONGEST_RESTART_MS = 30_000;
const SETTLED_MS = 60_000;
const LARGEST_LOG = 20 * 1024 * 1024;

/**
 * Starts long-running programs, keeps the ones marked so alive, and ends them in order.
 *
 * Every program runs in a session of its own, so that Ctrl-C reaches only the supervisor, and
 * writes to its log file directly, so that it survives the supervisor. `onChange` receives the
 * records of the living processes whenever they change; `onCrash` what ended unexpectedly:
 * `{ name, logFile, logStart, delayMs, code, signal, error }`.
 */
export class Supervisor {
  #programs = new Map();
  #onChange;
  #onCrash;
  #closed = false;

  constructor({ onChange = () => undefined, onCrash = () => undefined } = {}) {
    this.#onChange = onChange;
    this.#onCrash = onCrash;
  }

  /**
   * Starts a program: `name`, `file`, `args`, `options` of spawn, `logFile`, `stopSignal`
   * (SIGTERM), `graceMs` until SIGKILL.
   */
  start(spec) {
    if (this.#closed) throw new Error('the supervisor is closed');
    const program = {
      spec,
      child: null,
      exited: null,
      restart: false,
      stopping: false,
      failures: 0,
      timer: null,
    };
    this.#programs.set(spec.name, program);
    this.#launch(program);
    return program;
  }

  /** From now on the program is started again whenever it ends by itself. */
  keepAlive(name) {
    this.#get(name).restart = true;
  }

  pid(name) {
    return this.#get(name).child?.pid ?? null;
  }

  /** Resolves when the present process of the program has ended, to `{ code, signal, error }`. */
  exited(name) {
    return this.#get(name).exited;
  }

  /** Ends the programs at the same time; SIGKILL for one that outstays its grace. */
  async stop(names) {
    await Promise.all(
      names.filter((name) => this.#programs.has(name)).map((name) => this.#stopOne(name)),
    );
  }

  /** Ends everything, group after group, and starts nothing any more. */
  async close(groups) {
    this.#closed = true;
    for (const names of groups) await this.stop(names);
  }

  /** Sends one signal to whatever is running, for the impatient second Ctrl-C. */
  kill(names, signal = 'SIGKILL') {
    for (const name of names) this.#programs.get(name)?.child?.kill(signal);
  }

  async #stopOne(name) {
    const program = this.#get(name);
    program.stopping = true;
    clearTimeout(program.timer);
    if (program.child) {
      const { stopSignal = 'SIGTERM', graceMs = 10_000 } = program.spec;
      program.child.kill(stopSignal);
      const timer = setTimeout(() => program.child?.kill('SIGKILL'), graceMs);
      await program.exited;
      clearTimeout(timer);
    }
    this.#programs.delete(name);
    this.#publish();
  }

  #launch(program) {
    const { file, args, options = {}, logFile } = program.spec;
    trimLog(logFile);
    const log = openSync(logFile, 'a', 0o600);
    const startedAt = Date.now();
    const logStart = fstatSync(log).size;
    const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    program.child = child;
    program.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, error }));
      child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
    }).then((result) => {
      this.#ended(program, { ...result, logStart }, startedAt);
      return result;
    });
    this.#publish();
  }

  #ended(program, result, startedAt) {
    program.child = null;
    this.#publish();
    if (program.stopping || !program.restart) return;
    program.failures = Date.now() - startedAt > SETTLED_MS ? 1 : program.failures + 1;
    const delayMs = Math.min(FIRST_RESTART_MS * 2 ** (program.failures - 1), LONGEST_RESTART_MS);
    const { name, logFile } = program.spec;
    this.#onCrash({ name, logFile, delayMs, ...result });
    program.timer = setTimeout(() => this.#launch(program), delayMs);
  }

  #publish() {
    const records = {};
    for (const [name, { child }] of this.#programs) {
      if (child?.pid) records[name] = recordOf(child.pid);
    }
    this.#onChange(records);
  }

  #get(name) {
    const program = this.#programs.get(name);
    if (!program) throw new Error(`no program ${name}`);
    return program;
  }
}

/**
 * Keeps a log file from growing without end: what is beyond the limit moves to `<file>.1`.
 * Works on a file that is open for appending, so a running program need not be told.
 */
export function trimLog(path) {
  try {
    if (statSync(path).size < LARGEST_LOG) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
