/** Key of the original order of an object's names, if JavaScript orders them differently. */
const ORDER = Symbol('order');

/** True if a value that `JSON.stringify` would change was encountered since the last reset. */
let foundInexact = false;

/**
 * Number with its JSON text, if JavaScript would write it differently: `1.0`, `1e5`, and integers above
 * 2^53. Copies of the containing object keep the number.
 */
export class ExactNumber extends Number {
  constructor(readonly text: string) {
    super(text);
  }

  toJSON(): number {
    foundInexact = true;
    return this.valueOf();
  }
}

/** Matches every text that `JSON.parse` and `JSON.stringify` can change, and few others. */
const INEXACT =
  /"\d+"\s*:|(?:^|[[:,\s])(?:-0(?![\d.])|-?(?:\d[\d.]{14,}|\d+\.\d*0(?!\d)|0\.0{6}|\d+(?:\.\d+)?[eE]))/;

/** Returns true for JSON that `JSON.parse` and `JSON.stringify` can change. */
export const isInexact = (text: string): boolean => INEXACT.test(text);

const TOKEN = /"(?:[^"\\]+|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/**
 * Parses JSON like `JSON.parse`, and keeps the format of numbers and the order of names such as
 * `"443"`.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isInexact(text) ? new ExactReader(text).read() : value;
}

/** Parses a text that `JSON.parse` has accepted. */
class ExactReader {
  private readonly tokens = new RegExp(TOKEN);

  constructor(private readonly text: string) {}

  read(token = this.next()): unknown {
    if (token === '{') return this.object();
    if (token === '[') return this.list();
    const value: unknown = JSON.parse(token);
    return typeof value === 'number' && JSON.stringify(value) !== token
      ? new ExactNumber(token)
      : value;
  }

  private object(): Record<string, unknown> {
    const members = new Map<string, unknown>();
    for (let token = this.next(); token !== '}'; token = this.next()) {
      const name = token === ',' ? this.next() : token;
      this.next();
      members.set(String(JSON.parse(name)), this.read());
    }
    return recordOf(members);
  }

  private list(): unknown[] {
    const items: unknown[] = [];
    for (let token = this.next(); token !== ']'; token = this.next()) {
      items.push(this.read(token === ',' ? this.next() : token));
    }
    return items;
  }

  private next(): string {
    return this.tokens.exec(this.text)?.[0] ?? ']';
  }
}

const isIndex = (name: string): boolean => /^(?:0|[1-9]\d*)$/.test(name);

/** Creates an object that keeps the order of its names. */
export function recordOf(members: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const all = [...members];
  const record: Record<string, unknown> = Object.fromEntries(all);
  if (!all.some(([name]) => isIndex(name))) return record;
  const toJSON = (): unknown => {
    foundInexact = true;
    return record;
  };
  // Neither property is copied, compared or enumerated. An existing member `toJSON` takes precedence over
  // the order.
  Object.defineProperty(record, ORDER, { value: Object.freeze(all.map(([name]) => name)) });
  if (!Object.hasOwn(record, 'toJSON')) Object.defineProperty(record, 'toJSON', { value: toJSON });
  return record;
}

/** Returns the members of an object in their original order. */
export function entriesOf(record: object): [string, unknown][] {
  const order: unknown = Reflect.get(record, ORDER);
  const entries = Object.entries(record);
  if (!Array.isArray(order)) return entries;
  const ranks = new Map(order.map((name: unknown, rank) => [name, rank]));
  const rankOf = (name: string): number => ranks.get(name) ?? order.length;
  return entries.sort(([left], [right]) => rankOf(left) - rankOf(right));
}

/**
 * Merges objects. Later members replace earlier members; names keep the position of their first
 * appearance.
 */
export function mergeExact(...records: readonly object[]): Record<string, unknown> {
  return recordOf(new Map(records.flatMap((record) => entriesOf(record))));
}

/** Writes JSON like `JSON.stringify`, with the formats and orders that `parseExact` kept. */
export function exactJson(value: unknown): string {
  foundInexact = false;
  const text = JSON.stringify(value);
  return foundInexact ? writeJson(value, ',', ':') : text;
}

/** Returns the JSON text of a value with the given separators. */
export function writeJson(value: unknown, comma: string, colon: string): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) {
    return `[${value.map((item) => writeJson(item ?? null, comma, colon)).join(comma)}]`;
  }
  if (typeof value !== 'object' || value === null || hasOwnForm(value)) {
    return JSON.stringify(value) ?? 'null';
  }
  const members = entriesOf(value).filter(([, member]) => member !== undefined);
  return `{${members
    .map(([name, member]) => `${JSON.stringify(name)}${colon}${writeJson(member, comma, colon)}`)
    .join(comma)}}`;
}

/** Returns true for dates and other objects that define their own JSON. */
const hasOwnForm = (value: object): boolean =>
  'toJSON' in value && typeof value.toJSON === 'function' && !(ORDER in value);

/** Returns a value as `JSON.parse` would have parsed it. */
export function plainJson(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  foundInexact = false;
  const text = JSON.stringify(value);
  return foundInexact ? JSON.parse(text) : value;
}

/** Compares JSON values. The order of names does not matter; the format of numbers does. */
export function isSameJson(left: unknown, right: unknown): boolean {
  return canonical(left) === canonical(right);
}

function canonical(value: unknown): string {
  return exactJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(Reflect.get(value, name))]));
}
