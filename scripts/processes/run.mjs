import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setImmediate } from 'node:timers';

import { codeOf, lastLines, messageOf, Problem } from '../console/problem.mjs';

const OUTPUT_LIMIT = 256 * 1024;
const END_GRACE_MS = 30_000; // A package manager that is killed leaves incomplete packages.
/** Time in which the output of a command that has ended is read, in ms. */
const PIPE_GRACE_MS = 1000;
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/**
 * @typedef {import('node:child_process').SpawnOptions & {
 *   log?: string | undefined, timeoutMs?: number | undefined, anyCode?: boolean, name?: string | undefined,
 *   input?: string | undefined, onStart?: (pid: number) => void }} RunOptions
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, stdout: string,
 *   output: string }} RunResult
 */

/**
 * Runs a command to its end, without a shell. Resolves to `{ code, stdout, output }`, where
 * `output` is both streams. Throws a Problem when it cannot be started, runs longer than
 * `timeoutMs`, or ends with a code other than 0 (unless `anyCode`). `log` names a file that
 * receives the full output; `onStart` receives the process id.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export async function run(file, args, options = {}) {
  const { log, timeoutMs, anyCode = false, name = file, input, onStart, ...spawnOptions } = options;
  const child = spawn(file, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...spawnOptions,
  });
  running.add(child);
  if (child.pid) onStart?.(child.pid);
  try {
    const result = await collect(child, { log, timeoutMs, input });
    if (result.timedOut)
      throw new Problem(`${name} took longer than ${Number(timeoutMs) / 1000} s`);
    if (result.code !== 0 && !anyCode) {
      const source = log ? ` (full output in ${log})` : '';
      const how = result.signal ?? `code ${result.code}`;
      throw new Problem(
        `${name} failed with ${how}${source}`,
        lastLines(result.output),
        result.output,
      );
    }
    return result;
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) {
      throw new Problem(`${name} could not be started: ${messageOf(error)}`);
    }
    throw error;
  } finally {
    running.delete(child);
  }
}

/**
 * Adds a child process that the caller started to the processes that {@link endRunningCommands} ends.
 *
 * @template {import('node:child_process').ChildProcess} Child
 * @param {Child} child
 * @returns {Child}
 */
export function endWithRunningCommands(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Ends the running commands, for example after an interruption, and waits for their end.
 *
 * @param {NodeJS.Signals} [signal]
 */
export async function endRunningCommands(signal = 'SIGTERM') {
  await Promise.all(
    [...running].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), END_GRACE_MS);
      await closed;
      clearTimeout(timer);
    }),
  );
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {Pick<RunOptions, 'log' | 'timeoutMs' | 'input'>} options
 * @returns {Promise<RunResult & { timedOut: boolean }>}
 */
function collect(child, { log, timeoutMs, input }) {
  return new Promise((resolve, reject) => {
    let stdout = '';
    let output = '';
    let timedOut = false;
    const timer = timeoutMs
      ? setTimeout(() => {
          timedOut = true;
          child.kill('SIGKILL');
        }, timeoutMs)
      : undefined;
    /** @param {string} chunk */
    const append = (chunk) => {
      output = (output + chunk).slice(-OUTPUT_LIMIT);
      if (log) appendFileSync(log, chunk);
    };
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      stdout = (stdout + chunk).slice(-OUTPUT_LIMIT);
      append(chunk);
    });
    child.stderr?.setEncoding('utf8').on('data', append);
    if (input !== undefined) child.stdin?.on('error', () => undefined).end(input);
    child.on('error', reject);
    // A background process of the command, such as a service, can keep the output open.
    const close = () => {
      for (const pipe of child.stdio) pipe?.destroy();
    };
    /** @type {NodeJS.Timeout | undefined} */
    let grace;
    child.on('exit', () => (grace = setTimeout(() => setImmediate(close), PIPE_GRACE_MS)));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearTimeout(grace);
      resolve({ code, signal, stdout, output, timedOut });
    });
  });
}
