import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 64 * 1024;
const MAX_LINE_LENGTH = 400;

/**
 * Failure that the user at the terminal can act on. Its message is complete, so it is printed without a stack
 * trace. `details` are lines to print below the message, such as the end of a log. `output` is the whole output
 * of a failed command, for callers that look for a reason.
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
 * Returns the last `count` lines with text, each shortened to a maximum length.
 *
 * @param {string} text
 * @param {number} [count]
 */
export function lastLines(text, count = 15) {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .map((line) => (line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line));
}

/**
 * Returns the last line of a log file, or null if there is none.
 *
 * @param {string} path
 */
export function lastLogLine(path) {
  return lastLogLines(path, 1).at(0) ?? null;
}

/**
 * Returns the last lines of a log file, without reading a large one completely.
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
 * Returns the code of a failed system call, such as `ENOENT`, and null for any other error.
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
 * Prints a failure to stderr: one line for a Problem, the stack trace of any other error.
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
