/**
 * Returns true if a ref's name matches a pattern: `*` matches any characters of one path part, `**` any
 * characters, `?` one character of a part. The name can be full (`refs/heads/main`) or short (`main`).
 *
 * Does not use a regular expression: patterns come from users, and the time must stay proportional to the
 * lengths of pattern and name.
 */
export function matchesRef(pattern: string, name: string): boolean {
  const characters = Uint32Array.from(name, codeOf);
  // Marks the positions that the tokens so far can lead to.
  let reached = new Uint8Array(characters.length + 1);
  reached[0] = 1;
  reached[FULL_REF.exec(name)?.[0].length ?? 0] = 1;
  for (const token of tokensOf(pattern)) {
    reached = afterToken(token, reached, characters);
    if (!reached.includes(1)) return false;
  }
  return reached.at(-1) === 1;
}

/** Start of a full name, which its short name omits. */
const FULL_REF = /^refs\/(?:heads|tags)\//;
const SLASH = codeOf('/');

/** Part of a pattern that matches one character, or any number of characters. */
interface Token {
  repeats: boolean;
  /** Code point of the only character that it matches; null: any. */
  code: number | null;
  /** True if any character includes the separator of path parts. */
  isCrossing: boolean;
}

function tokensOf(pattern: string): Token[] {
  const parts = pattern.match(/\*\*+|\*|\?|[^*?]/gsu) ?? [];
  return parts.map((part) => ({
    repeats: part.startsWith('*'),
    code: /^[*?]/.test(part) ? null : codeOf(part),
    isCrossing: part.startsWith('**'),
  }));
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Returns the positions that one more token can lead to. */
function afterToken(
  { repeats, code, isCrossing }: Token,
  reached: Uint8Array<ArrayBuffer>,
  characters: Uint32Array,
): Uint8Array<ArrayBuffer> {
  const next = repeats ? reached.slice() : new Uint8Array(reached.length);
  const before = repeats ? next : reached;
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index];
    const isAccepted = code === null ? isCrossing || character !== SLASH : character === code;
    if (isAccepted && before[index] === 1) next[index + 1] = 1;
  }
  return next;
}
