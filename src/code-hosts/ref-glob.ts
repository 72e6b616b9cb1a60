/**
 * Returns true if a ref's name matches a pattern: `*` matches any characters of one path part, `**` any
 * characters, `?` one character of a part. The name can be full (`refs/heads/main`) or short (`main`).
 *
 * Does not use a regular expression: patterns come from users, and the time must stay proportional to the
 * lengths of pattern and name.
 */
export function matchesRef(pattern: string, name: string): boolean {
  const tokens = tokensOf(pattern);
  return [name, shortRef(name)].some((candidate) => matches(tokens, candidate));
}

const shortRef = (name: string): string => name.replace(/^refs\/(?:heads|tags)\//, '');

type Token = { kind: 'many' | 'some' | 'one' } | { kind: 'literal'; text: string };

function tokensOf(pattern: string): Token[] {
  const parts = pattern.match(/\*\*+|\*|\?|[^*?]/gsu) ?? [];
  return parts.map((part): Token => {
    if (part === '*') return { kind: 'some' };
    if (part === '?') return { kind: 'one' };
    return part.startsWith('**') ? { kind: 'many' } : { kind: 'literal', text: part };
  });
}

/**
 * Matches token by token. `reached` contains the prefixes of the name that the tokens so far can match.
 */
function matches(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  let reached = [true, ...characters.map(() => false)];
  for (const token of tokens) {
    const next: boolean[] = [isRepeating(token) && reached[0] === true];
    characters.forEach((character, index) => {
      next.push(
        isRepeating(token)
          ? reached[index + 1] === true || (next[index] === true && accepts(token, character))
          : reached[index] === true && accepts(token, character),
      );
    });
    reached = next;
  }
  return reached.at(-1) === true;
}

const isRepeating = ({ kind }: Token): boolean => kind === 'many' || kind === 'some';

function accepts(token: Token, character: string): boolean {
  if (token.kind === 'literal') return token.text === character;
  return token.kind === 'many' || character !== '/';
}
