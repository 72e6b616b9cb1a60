import { BadRequest } from '../errors/errors.js';

const MAX_LENGTH = 256;
/**
 * Maximum number of states of a pattern with its repetitions expanded. Each state costs PostgreSQL memory
 * and time.
 */
const MAX_STATES = 2000;

const TOO_LONG = `A regular expression may have at most ${MAX_LENGTH} characters.`;
const TOO_LARGE = 'The regular expression repeats too much.';
const OTHER_SYNTAX = 'The regular expression may not switch to another syntax.';

/** Prefixes that switch PostgreSQL to a syntax that `statesOf` does not count. */
const SYNTAX_SWITCH = /^(?:\*\*\*|\(\?[a-z]*[beqx])/;
const REPETITION = /\{(\d{1,3})(?:,(\d{0,3}))?\}/y;
const BRACKET = /\[\^?\]?(?:\[[.:=][^\]]*\]|\\.|[^\]\\])*\]?/sy;

/**
 * Rejects patterns that PostgreSQL would expand to an automaton of many megabytes: the bounds of nested
 * repetitions multiply. Other errors of a pattern are reported by PostgreSQL.
 *
 * @throws BadRequest
 */
export function assertBoundedPattern(pattern: string): void {
  if (pattern.length > MAX_LENGTH) throw new BadRequest(TOO_LONG);
  if (SYNTAX_SWITCH.test(pattern)) throw new BadRequest(OTHER_SYNTAX);
  if (statesOf(pattern) > MAX_STATES) throw new BadRequest(TOO_LARGE);
}

/** Counts the characters of a pattern with its repetitions expanded; a group counts as its content. */
function statesOf(pattern: string): number {
  /** Size of the content so far of each open group, and of the last element in it. */
  const open = [{ size: 0, last: 0 }];
  for (let index = 0; index < pattern.length;) {
    const group = open.at(-1) ?? { size: 0, last: 0 };
    const repeated = matchAt(REPETITION, pattern, index);
    const bracket = matchAt(BRACKET, pattern, index);
    if (repeated) {
      const [text, from, to] = repeated;
      const times = Math.max(1, Number(from), Number(to ?? 0));
      group.size += group.last * (times - 1);
      group.last *= times;
      index += text.length;
      continue;
    }
    if (pattern[index] === '(') open.push({ size: 0, last: 0 });
    else if (pattern[index] === ')' && open.length > 1) {
      open.pop();
      const outer = open.at(-1) ?? group;
      outer.last = Math.max(1, group.size);
      outer.size += outer.last;
    } else if (!'*+?|^$'.includes(pattern[index] ?? '')) {
      group.last = 1;
      group.size += 1;
    }
    index += bracket?.[0].length ?? (pattern[index] === '\\' ? 2 : 1);
  }
  return open.reduce((sum, { size }) => sum + size, 0);
}

function matchAt(expression: RegExp, text: string, index: number): RegExpExecArray | null {
  expression.lastIndex = index;
  return expression.exec(text);
}
