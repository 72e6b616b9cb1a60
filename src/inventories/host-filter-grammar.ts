/** Maximum number of conditions in a filter, and maximum depth of parentheses. */
const MAX_CONDITIONS = 50;
const MAX_NESTED = 20;
const MAX_CHARACTERS = 4096;

/** A parsed filter: conditions and their combinations. */
export type HostFilter =
  { readonly kind: 'and' | 'or'; readonly parts: readonly HostFilter[] } | HostCondition;

export interface HostCondition {
  readonly kind: 'condition';
  readonly key: string;
  readonly value: string;
  /** True if the value is in quotes: a quoted value is always a text. */
  readonly isQuoted: boolean;
}

/** Error for an invalid filter; the message contains the reason, and the position of an unexpected token. */
export class HostFilterError extends Error {
  override readonly name = 'HostFilterError';
}

interface Token {
  readonly kind: '(' | ')' | '=' | 'word' | 'end';
  readonly text: string;
  readonly isQuoted: boolean;
  /** Position in the text, from 1. */
  readonly position: number;
}

/**
 * Parses a filter (docs/contract/resources.md#host-filters):
 *
 * expression := term { "or" term }
 * term := factor { "and" factor }
 * factor := "(" expression ")" | word "=" word
 * word := '"' anything but '"' '"' | anything but blanks ( ) = "
 *
 * @throws HostFilterError for an invalid filter
 */
export function parseHostFilter(text: string): HostFilter {
  if (text.length > MAX_CHARACTERS) {
    throw new HostFilterError(`it has more than ${MAX_CHARACTERS} characters`);
  }
  return new Parser(tokensOf(text)).parse();
}

const TOKEN = /\s*(?:([()=])|"([^"]*)"|([^\s()="]+))/uy;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  const length = text.trimEnd().length;
  while (pattern.lastIndex < length) {
    const from = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) throw new HostFilterError('a quote is not closed');
    const [all, sign, quoted, bare = ''] = match;
    const position = from + all.length - all.trimStart().length + 1;
    const isQuoted = quoted !== undefined;
    const kind = sign === '(' || sign === ')' || sign === '=' ? sign : 'word';
    tokens.push({ kind, text: sign ?? quoted ?? bare, isQuoted, position });
  }
  return [...tokens, { kind: 'end', text: '', isQuoted: false, position: length + 1 }];
}

class Parser {
  private next = 0;
  private conditions = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(): HostFilter {
    const filter = this.operation('or', 0);
    this.expect('end', 'and, or, or the end');
    return filter;
  }

  private operation(word: 'or' | 'and', depth: number): HostFilter {
    const part = (): HostFilter =>
      word === 'or' ? this.operation('and', depth) : this.factor(depth);
    const first = part();
    const parts = [first];
    while (this.isWord(word)) {
      this.next += 1;
      parts.push(part());
    }
    return parts.length === 1 ? first : { kind: word, parts };
  }

  private factor(depth: number): HostFilter {
    if (this.token().kind === '(') {
      if (depth === MAX_NESTED) {
        throw new HostFilterError(`more than ${MAX_NESTED} parentheses are open`);
      }
      this.next += 1;
      const filter = this.operation('or', depth + 1);
      this.expect(')', 'and, or, or a closing parenthesis');
      return filter;
    }
    const { text: key } = this.expect('word', 'a condition');
    this.expect('=', '=');
    const { text: value, isQuoted } = this.expect('word', 'a value');
    this.conditions += 1;
    if (this.conditions > MAX_CONDITIONS) {
      throw new HostFilterError(`it has more than ${MAX_CONDITIONS} conditions`);
    }
    return { kind: 'condition', key, value, isQuoted };
  }

  private token(): Token {
    const token = this.tokens[this.next];
    if (!token) throw new HostFilterError('it is not complete');
    return token;
  }

  private isWord(word: string): boolean {
    const { kind, text, isQuoted } = this.token();
    return kind === 'word' && text === word && !isQuoted;
  }

  private expect(kind: Token['kind'], expected: string): Token {
    const token = this.token();
    if (token.kind !== kind) {
      throw new HostFilterError(`${expected} is expected at character ${token.position}`);
    }
    this.next += 1;
    return token;
  }
}
