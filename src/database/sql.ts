/**
 * SQL fragments that carry their parameters. Every value put into a template is bound, never
 * concatenated; another fragment put into a template is spliced in.
 *
 * @example sql`SELECT ${ident('id')} FROM teams WHERE name = ${name} AND ${readable}`
 */
export class Sql {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  /** The statement text with `$1…$n` and its parameters, as node-postgres takes them. */
  toQuery(): { text: string; values: unknown[] } {
    let text = this.strings[0] ?? '';
    for (let i = 0; i < this.values.length; i++) {
      text += `$${i + 1}${this.strings[i + 1] ?? ''}`;
    }
    return { text, values: [...this.values] };
  }
}

/** Builds a fragment; nested fragments are spliced, everything else becomes a parameter. */
export function sql(parts: readonly string[], ...args: unknown[]): Sql {
  const strings: string[] = [parts[0] ?? ''];
  const values: unknown[] = [];
  args.forEach((arg, index) => {
    const tail = parts[index + 1] ?? '';
    if (arg instanceof Sql) {
      strings[strings.length - 1] += arg.strings[0] ?? '';
      for (let i = 0; i < arg.values.length; i++) {
        values.push(arg.values[i]);
        strings.push(arg.strings[i + 1] ?? '');
      }
      strings[strings.length - 1] += tail;
    } else {
      values.push(arg);
      strings.push(tail);
    }
  });
  return new Sql(strings, values);
}

/** Maximum number of ids of one object: its creator and its last editor. */
const FEW = 2;

const isIdList = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number');

/**
 * Writes the lists of ids of a statement out, `ARRAY[$1, $2]`, where all of them are short. PostgreSQL
 * takes a list of unknown length for ten values, and would plan a prepared statement about one object
 * anew each time (docs/decisions/0073-indexes.md).
 */
export function withShortLists(statement: Sql): Sql {
  const { strings, values } = statement;
  if (values.some((value) => isIdList(value) && value.length > FEW)) return statement;
  const parts = values.map((value) =>
    isIdList(value)
      ? sql`ARRAY[${join(
          value.map((id) => sql`${id}`),
          ', ',
        )}]`
      : value,
  );
  return sql(strings, ...parts);
}

/** Text from our own source, never from a request. */
export const raw = (text: string): Sql => new Sql([text], []);

/**
 * A count of rows written out: PostgreSQL plans a prepared statement whose `LIMIT` it does not know for
 * a tenth of the rows.
 */
export const rowCount = (count: number): Sql => raw(String(Math.trunc(count)));

/** A quoted identifier, optionally qualified: `ident('t', 'name')` is `"t"."name"`. */
export const ident = (...names: string[]): Sql =>
  raw(names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.'));

/** Query for no id at all. */
export const NO_IDS = raw('SELECT NULL::int WHERE false');

export const TRUE = raw('TRUE');
export const FALSE = raw('FALSE');

export function join(parts: readonly Sql[], separator: string): Sql {
  const strings: string[] = [''];
  const values: unknown[] = [];
  parts.forEach((part, place) => {
    const [head = '', ...tails] = part.strings;
    strings[strings.length - 1] += place === 0 ? head : separator + head;
    strings.push(...tails);
    values.push(...part.values);
  });
  return new Sql(strings, values);
}

/** Conjunction, bracketed so that it can be combined safely; empty means true. */
export function and(...parts: readonly Sql[]): Sql {
  const rest = parts.filter((part) => part !== TRUE);
  if (rest.some((part) => part === FALSE)) return FALSE;
  const [first, ...others] = rest;
  if (!first) return TRUE;
  return others.length === 0 ? first : sql`(${join(rest, ' AND ')})`;
}

/** Disjunction, bracketed; empty means false. */
export function or(...parts: readonly Sql[]): Sql {
  const rest = parts.filter((part) => part !== FALSE);
  if (rest.some((part) => part === TRUE)) return TRUE;
  const [first, ...others] = rest;
  if (!first) return FALSE;
  return others.length === 0 ? first : sql`(${join(rest, ' OR ')})`;
}

export function not(part: Sql): Sql {
  if (part === TRUE) return FALSE;
  if (part === FALSE) return TRUE;
  return sql`NOT (${part})`;
}
