/** Letters and digits of every language, as Python takes them. */
const WORD = String.raw`\p{L}\p{N}_`;
/** Escapes that mean something else here, outside of and inside a set. */
const ESCAPES: Readonly<Record<string, readonly [outside: string, inside: string]>> = {
  d: [String.raw`\p{Nd}`, String.raw`\p{Nd}`],
  D: [String.raw`\P{Nd}`, String.raw`\P{Nd}`],
  w: [`[${WORD}]`, WORD],
  W: [`[^${WORD}]`, String.raw`\W`],
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
      // Only the first of a set, and after `^`, means itself in Python; here it is always escaped.
      written += character === '[' ? String.raw`\[` : character;
    } else if (character === '[') {
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
