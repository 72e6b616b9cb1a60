const QUIET_MS = 1500;
const TICK_MS = 1000;

const isTerminal = Boolean(process.stdout.isTTY) && process.env.TERM !== 'dumb';
const hasColors = isTerminal && !process.env.NO_COLOR;
/** @typedef {{ title: string, startedAt: number, announced: boolean }} RunningStep */

/** @type {RunningStep | null} */
let current = null;

// A closed terminal or pipe must not end a supervisor that still has to stop services.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/**
 * Runs one step of a set-up and prints `✓ title: detail (seconds)` at its end; `work` may return the detail.
 * A terminal shows the running time. Without a terminal, a step that takes longer prints a line once.
 * Resolves to the result of the work.
 *
 * @template Result
 * @param {string} title
 * @param {() => Result | Promise<Result>} work
 * @param {(result: Result) => string} [describe] returns the detail; by default, a text that the work returns
 * @returns {Promise<Result>}
 */
export async function step(title, work, describe = textOf) {
  /** @type {RunningStep} */
  const shown = { title, startedAt: Date.now(), announced: false };
  current = shown;
  const timer = setInterval(() => announce(shown), isTerminal ? TICK_MS : QUIET_MS);
  try {
    const result = await work();
    const detail = describe(result);
    clearLine();
    const text = detail ? `${title}: ${detail}` : title;
    print(`${paint('✓', 32)} ${text} ${paint(`(${seconds(shown)})`, 2)}`);
    return result;
  } catch (error) {
    clearLine();
    print(`${paint('✗', 31)} ${title} ${paint(`(${seconds(shown)})`, 2)}`);
    throw error;
  } finally {
    clearInterval(timer);
    current = null;
  }
}

/** @param {unknown} result */
function textOf(result) {
  return typeof result === 'string' ? result : '';
}

/**
 * Prints a line below the running step, for information beyond its result.
 *
 * @param {string} text
 */
export function note(text) {
  clearLine();
  print(`  ${text}`);
}

/** Prints a line of output. */
export function print(text = '') {
  process.stdout.write(`${text}\n`);
}

/**
 * Returns the text in bold, or unchanged if colors are off.
 *
 * @param {string} text
 */
export function strong(text) {
  return paint(text, 1);
}

/** @param {RunningStep} shown */
function announce(shown) {
  if (current !== shown) return;
  if (isTerminal) {
    clearLine();
    process.stdout.write(`${paint('…', 36)} ${shown.title} ${seconds(shown)}`);
  } else if (!shown.announced) {
    shown.announced = true;
    print(`… ${shown.title}`);
  }
}

function clearLine() {
  if (isTerminal) process.stdout.write('\r\u001b[2K');
}

/**
 * @param {string} text
 * @param {number} code
 */
function paint(text, code) {
  return hasColors ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** @param {RunningStep} shown */
function seconds(shown) {
  return `${((Date.now() - shown.startedAt) / 1000).toFixed(1)} s`;
}
