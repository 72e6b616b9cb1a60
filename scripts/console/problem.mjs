import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 64 * 1024;
const LONGEST_LINE = 400;

/**
 * A failure the person at the terminal can act on: its message is the whole story, so it is printed
 * without a stack trace. `details` are lines worth seeing below it, such as the end of a log;
 * `output` is all that a failed command said, for callers that look for a reason.
 */
export class Problem extends Error {
  /**
   * @param {string} message
   * @param {readonly string[]} [details]
   * @param {string} [output]
   */
  constructor(message, details = [], output = '') {
    super(message);
    this.name = 'Problem';
    this.details = details;
    this.output = output;
  }
}

/**
 * The last `count` lines with text in them, each cut to what a terminal can take.
 *
 * @param {string} text
 * @param {number} [count]
 */
export function lastLines(text, count = 15) {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

/**
 * The last line of a log file; null when there is none to show.
 *
 * @param {string} path
 */
export function lastLogLine(path) {
  return lastLogLines(path, 1).at(0) ?? null;
}

/**
 * The last lines of a log file, without reading a large one whole.
 *
 * @param {string} path
 * @param {number} count
 */
export function lastLogLines(path, count) {
  let file;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return lastLines(bytes.toString('utf8'), count);
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * The code of a system call that failed, such as `ENOENT`; null for any other error.
 *
 * @param {unknown} error
 * @returns {string | null}
 */
export function codeOf(error) {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** @param {unknown} error */
export function messageOf(error) {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return String(hasMessage ? error.message : error);
}

/**
 * Prints a failure to stderr: one line for a Problem, the stack for a fault of these scripts.
 *
 * @param {unknown} error
 */
export function reportFailure(error) {
  if (!(error instanceof Problem)) {
    console.error(error);
    return;
  }
  console.error(`✗ ${error.message}`);
  for (const line of error.details) console.error(`    ${line}`);
}
