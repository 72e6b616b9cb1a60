/**
 * SQL fragment with its parameters. A value in a template becomes a bound parameter and is never
 * concatenated; a fragment in a template is spliced in.
 *
 * @example sql`SELECT ${ident('id')} FROM teams WHERE name = ${name} AND ${readable}`
 */
export class Sql {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  /** Returns the text with `$1…$n` and the parameters, in the form that node-postgres accepts. */
  toQuery(): { text: string; values: unknown[] } {
    let text = this.strings[0] ?? '';
    for (let i = 0; i < this.values.length; i++) {
      text += `$${i + 1}${this.strings[i + 1] ?? ''}`;
    }
    return { text, values: [...this.values] };
  }
}

/** Builds a fragment. Nested fragments are spliced in; all other values become parameters. */
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

/** Maximum length of a list that is written out: the ids of an object's creator and last editor. */
const MAX_LIST_LENGTH = 2;

const isIdList = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');

/**
 * Writes out the id lists of a statement (`ARRAY[$1, $2]`) if all of them are short. PostgreSQL assumes ten
 * values for a list of unknown length, and would plan a prepared statement on one object anew each time
 * (docs/decisions/0073-indexes.md).
 */
export function withShortLists(statement: Sql): Sql {
  const { strings, values } = statement;
  if (values.some((value) => isIdList(value) && value.length > MAX_LIST_LENGTH)) return statement;
  const parts = values.map((value) =>
    isIdList(value) ? sql`ARRAY[${join(value.map((id) => sql`${id}`))}]` : value,
  );
  return sql(strings, ...parts);
}

/** Returns a fragment of constant SQL text. Never pass text of a request. */
export const raw = (text: string): Sql => new Sql([text], []);

/**
 * Returns a row count as SQL text instead of a parameter. If the `LIMIT` of a prepared statement is a
 * parameter, PostgreSQL plans for a tenth of the rows.
 */
export const rowCount = (count: number): Sql => raw(String(Math.trunc(count)));

/** Returns a quoted identifier, optionally qualified: `ident('t', 'name')` is `"t"."name"`. */
export const ident = (...names: string[]): Sql =>
  raw(names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.'));

/** Query that returns no id. */
export const NO_IDS = raw('SELECT NULL::int WHERE false');

export const TRUE = raw('TRUE');
export const FALSE = raw('FALSE');

export function join(parts: readonly Sql[], separator = ', '): Sql {
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

/** Returns the conjunction: several parts in parentheses, a single part unchanged, TRUE without parts. */
export const and = (...parts: readonly Sql[]): Sql => combined(parts, ' AND ', TRUE, FALSE);

/** Returns the disjunction: several parts in parentheses, a single part unchanged, FALSE without parts. */
export const or = (...parts: readonly Sql[]): Sql => combined(parts, ' OR ', FALSE, TRUE);

/** `neutral` is a part without effect, `decisive` a part that determines the result. */
function combined(parts: readonly Sql[], operator: string, neutral: Sql, decisive: Sql): Sql {
  const rest = parts.filter((part) => part !== neutral);
  if (rest.includes(decisive)) return decisive;
  const [first = neutral, ...others] = rest;
  return others.length === 0 ? first : sql`(${join(rest, operator)})`;
}

export function not(part: Sql): Sql {
  if (part === TRUE) return FALSE;
  if (part === FALSE) return TRUE;
  return sql`NOT (${part})`;
}
