/** Letters and digits of every language, as Python takes them. */
const WORD = String.raw`\p{L}\p{N}_`;
/** All the rest, spelt out: a set cannot hold another one that is negated. */
const OTHERS = String.raw`\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}‿⁀⁔︳︴﹍-﹏＿`;
/** The engine's own boundaries know the letters of English alone. */
const STARTS = `(?<![${WORD}])(?=[${WORD}])`;
const ENDS = `(?<=[${WORD}])(?![${WORD}])`;
const WITHIN = `(?<=[${WORD}])(?=[${WORD}])`;
const APART = `(?<![${WORD}])(?![${WORD}])`;
/** Escapes that mean something else here, outside of and inside a set. */
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
/** What may stand behind a backslash here, too. */
const KNOWN = /[A-Za-z0-9^$\\.*+?()[\]{}|/]/;

/**
 * A regular expression as Python writes it, in the words of this engine with its flag `u`: names of
 * groups, anchors, classes of characters, and escapes of what needs none (docs/decisions/0106-patterns-for-names-of-hosts.md).
 */
export function fromPython(text: string): string {
  let written = '';
  let isInSet = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') {
      at += 1;
      written += escaped(text[at] ?? '', isInSet);
    } else if (isInSet) {
      isInSet = character !== ']';
      written += character;
    } else if (character === '[') {
      // A bracket that comes first, also after `^`, does not end the set for Python.
      const [opening = ''] = /^\[\^?\]?/.exec(text.slice(at)) ?? [];
      written += opening.replace(']', String.raw`\]`);
      at += opening.length - 1;
      isInSet = true;
    } else if (text.startsWith('(?P<', at)) {
      written += '(?<';
      at += 3;
    } else {
      written += character;
    }
  }
  return written;
}

function escaped(character: string, isInSet: boolean): string {
  const known = ESCAPES[character];
  if (known) return known[isInSet ? 1 : 0];
  const isKept = KNOWN.test(character) || (isInSet && character === '-') || character === '';
  return isKept ? `\\${character}` : character;
}
