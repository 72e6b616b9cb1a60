import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 64 * 1024;
const LONGEST_LINE = 400;

/**
 * A failure the person at the terminal can act on: its message is the whole story, so it is printed
 * without a stack trace. `details` are lines worth seeing below it, such as the end of a log;
 * `output` is all that a failed command said, for callers that look for a reason.
 */
export class Problem extends Error {
  constructor(message, details = [], output = '') {
    super(message);
    this.name = 'Problem';
    this.details = details;
    this.output = output;
  }
}

/** The last `count` lines with text in them, each cut to what a terminal can take. */
export function lastLines(text, count = 15) {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

/** The last line of a log file; null when there is none to show. */
export function lastLogLine(path) {
  return lastLogLines(path, 1).at(0) ?? null;
}

/** The last lines of a log file, without reading a large one whole. */
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

/** Prints a failure to stderr: one line for a Problem, the stack for a fault of these scripts. */
export function reportFailure(error) {
  if (!(error instanceof Problem)) {
    console.error(error);
    return;
  }
  console.error(`✗ ${error.message}`);
  for (const line of error.details) console.error(`    ${line}`);
}
