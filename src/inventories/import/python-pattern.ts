/** Letters and digits of every language, as in Python's `\w`. */
const WORD = String.raw`\p{L}\p{N}_`;
/**
 * All other characters, listed explicitly, because a character class cannot contain a negated one.
 */
const OTHERS = String.raw`\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}‿⁀⁔︳︴﹍-﹏＿`;
/** Word boundaries for all letters; `\b` of JavaScript only recognizes ASCII letters. */
const STARTS = `(?<![${WORD}])(?=[${WORD}])`;
const ENDS = `(?<=[${WORD}])(?![${WORD}])`;
const WITHIN = `(?<=[${WORD}])(?=[${WORD}])`;
const APART = `(?<![${WORD}])(?![${WORD}])`;
/** Escapes with a different meaning in JavaScript, outside of and inside a character class. */
const ESCAPES: Readonly<Record<string, readonly [outside: string, inside: string]>> = {
  d: [String.raw`\p{Nd}`, String.raw`\p{Nd}`],
  D: [String.raw`\P{Nd}`, String.raw`\P{Nd}`],
  w: [`[${WORD}]`, WORD],
  W: [`[${OTHERS}]`, OTHERS],
  b: [`(?:${STARTS}|${ENDS})`, String.raw`\b`],
  B: [`(?:${WITHIN}|${APART})`, String.raw`\B`],
  A: ['^', 'A'],
  Z: ['$', 'Z'],
};
/** Characters that JavaScript also permits after a backslash. */
const KNOWN = /[A-Za-z0-9^$\\.*+?()[\]{}|/]/;

/**
 * Converts a regular expression from Python syntax to JavaScript syntax with the flag `u`: names of
 * groups, anchors, character classes, and escapes of characters that need none
 * (docs/decisions/0077-inventory-import.md).
 */
export function fromPython(text: string): string {
  let result = '';
  let isInSet = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '\\') {
      index += 1;
      result += escaped(text[index] ?? '', isInSet);
    } else if (isInSet) {
      isInSet = character !== ']';
      result += character;
    } else if (character === '[') {
      // In Python, a closing bracket at the start of a class, also after `^`, does not end the
      // class.
      const [opening = ''] = /^\[\^?\]?/.exec(text.slice(index)) ?? [];
      result += opening.replace(']', String.raw`\]`);
      index += opening.length - 1;
      isInSet = true;
    } else if (text.startsWith('(?P<', index)) {
      result += '(?<';
      index += 3;
    } else {
      result += character;
    }
  }
  return result;
}

function escaped(character: string, isInSet: boolean): string {
  const known = ESCAPES[character];
  if (known) return known[isInSet ? 1 : 0];
  const isKept = KNOWN.test(character) || (isInSet && character === '-') || character === '';
  return isKept ? `\\${character}` : character;
}
