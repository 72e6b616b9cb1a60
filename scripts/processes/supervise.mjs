import { spawn } from 'node:child_process';
import { closeSync, copyFileSync, fstatSync, openSync, statSync, truncateSync } from 'node:fs';

import { recordOf } from './identity.mjs';

const FIRST_RESTART_MS = 1000;
const MAX_RESTART_MS = 30_000;
const STABLE_AFTER_MS = 60_000;
const LOG_LIMIT = 20 * 1024 * 1024;

/**
 * @typedef {{ name: string, file: string, args: readonly string[], logFile: string,
 *   options?: import('node:child_process').SpawnOptions, stopSignal?: NodeJS.Signals,
 *   graceMs?: number }} ProgramSpec
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, error: Error | null }} Ended
 * @typedef {Ended & { name: string, logFile: string, logStart: number, delayMs: number }} Crash
 * @typedef {Record<string, import('./identity.mjs').ProcessRecord>} Processes
 * @typedef {{ onChange?: (processes: Processes) => void, onCrash?: (crash: Crash) => void }} Watchers
 * @typedef {{ spec: ProgramSpec, child: import('node:child_process').ChildProcess | null,
 *   exited: Promise<Ended>, restart: boolean, stopping: boolean, failures: number,
 *   timer: NodeJS.Timeout | undefined }} Program
 */

/** @type {Ended} */
const NOT_STARTED = { code: null, signal: null, error: null };

/**
 * Starts long-running programs, restarts programs marked by `keepAlive`, and ends them in order.
 *
 * Every program runs in its own session, so that Ctrl-C reaches only the supervisor, and writes to its
 * log file directly, so that it survives the supervisor. `onChange` receives the records of the living
 * processes whenever they change; `onCrash` receives the unexpected end of a process: `{ name, logFile,
 * logStart, delayMs, code, signal, error }`.
 */
export class Supervisor {
  /** @type {Map<string, Program>} */
  #programs = new Map();
  #onChange;
  #onCrash;
  #closed = false;

  /** @param {Watchers} [watchers] */
  constructor({ onChange = () => undefined, onCrash = () => undefined } = {}) {
    this.#onChange = onChange;
    this.#onCrash = onCrash;
  }

  /**
   * Starts a program: `name`, `file`, `args`, `options` of spawn, `logFile`, `stopSignal`
   * (SIGTERM), `graceMs` until SIGKILL.
   *
   * @param {ProgramSpec} spec
   */
  start(spec) {
    if (this.#closed) throw new Error('the supervisor is closed');
    /** @type {Program} */
    const program = {
      spec,
      child: null,
      exited: Promise.resolve(NOT_STARTED),
      restart: false,
      stopping: false,
      failures: 0,
      timer: undefined,
    };
    this.#programs.set(spec.name, program);
    this.#launch(program);
    return program;
  }

  /**
   * Restarts the program from now on whenever it ends by itself.
   *
   * @param {string} name
   */
  keepAlive(name) {
    this.#get(name).restart = true;
  }

  /** @param {string} name */
  pid(name) {
    return this.#get(name).child?.pid ?? null;
  }

  /**
   * Resolves when the current process of the program has ended, to `{ code, signal, error }`.
   *
   * @param {string} name
   * @returns {Promise<Ended>}
   */
  exited(name) {
    return this.#get(name).exited;
  }

  /**
   * Ends the programs at the same time, with SIGKILL after their grace period.
   *
   * @param {readonly string[]} names
   */
  async stop(names) {
    await Promise.all(
      names.filter((name) => this.#programs.has(name)).map((name) => this.#stopOne(name)),
    );
  }

  /**
   * Ends all programs, group after group, and starts no more.
   *
   * @param {readonly (readonly string[])[]} groups
   */
  async close(groups) {
    this.#closed = true;
    for (const names of groups) await this.stop(names);
  }

  /**
   * Sends one signal to all running programs, for a second Ctrl-C.
   *
   * @param {readonly string[]} names
   * @param {NodeJS.Signals} [signal]
   */
  kill(names, signal = 'SIGKILL') {
    for (const name of names) this.#programs.get(name)?.child?.kill(signal);
  }

  /** @param {string} name */
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

  /** @param {Program} program */
  #launch(program) {
    const { file, args, options = {}, logFile } = program.spec;
    trimLog(logFile);
    const log = openSync(logFile, 'a', 0o600);
    const startedAt = Date.now();
    const logStart = fstatSync(log).size;
    const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    program.child = child;
    /** @type {Promise<Ended>} */
    const ended = new Promise((resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, error }));
      child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
    });
    program.exited = ended.then((result) => {
      this.#handleExit(program, { ...result, logStart }, startedAt);
      return result;
    });
    this.#publish();
  }

  /**
   * @param {Program} program
   * @param {Ended & { logStart: number }} result
   * @param {number} startedAt
   */
  #handleExit(program, result, startedAt) {
    program.child = null;
    this.#publish();
    if (program.stopping || !program.restart) return;
    program.failures = Date.now() - startedAt > STABLE_AFTER_MS ? 1 : program.failures + 1;
    const delayMs = Math.min(FIRST_RESTART_MS * 2 ** (program.failures - 1), MAX_RESTART_MS);
    const { name, logFile } = program.spec;
    this.#onCrash({ name, logFile, delayMs, ...result });
    program.timer = setTimeout(() => this.#relaunch(program), delayMs);
  }

  /** @param {Program} program */
  #relaunch(program) {
    try {
      this.#launch(program);
    } catch (cause) {
      // For example, no file descriptor is free. The other programs continue.
      const error = /** @type {Error} */ (cause);
      this.#handleExit(program, { ...NOT_STARTED, error, logStart: 0 }, Date.now());
    }
  }

  #publish() {
    /** @type {Processes} */
    const records = {};
    for (const [name, { child }] of this.#programs) {
      if (child?.pid) records[name] = recordOf(child.pid);
    }
    try {
      this.#onChange(records);
    } catch {
      // The disk is full: the programs continue, and their next change is recorded again.
    }
  }

  /**
   * @param {string} name
   * @returns {Program}
   */
  #get(name) {
    const program = this.#programs.get(name);
    if (!program) throw new Error(`no program ${name}`);
    return program;
  }
}

/**
 * Limits the size of a log file: text beyond the limit moves to `<file>.1`. Works on a file that is open for
 * appending, so a running program need not reopen it. A log that cannot be copied stays as it is, because the
 * programs continue on a full disk.
 *
 * @param {string} path
 */
export function trimLog(path) {
  try {
    if (statSync(path).size < LOG_LIMIT) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // The file is missing, or the disk is full.
  }
}
