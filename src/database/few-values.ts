import type { Sql } from './sql.js';

/** Most values that are written out; each number of them makes a statement of its own. */
const FEW = 2;
const LIST_OF_IDS = /^::(int|integer|bigint)\[\]/;

/**
 * A statement to be prepared, its lists of ids written out value by value where all of them are short,
 * as they are when one object is asked for. PostgreSQL takes a list that it does not know for ten values:
 * what it prepared looks so much dearer than a plan for the one value at hand that it would plan each
 * time anew, which costs several times what the statement does.
 */
export function withFewValues({ strings, values }: Sql): { text: string; values: unknown[] } {
  const isList = values.map(
    (value, index) => Array.isArray(value) && LIST_OF_IDS.test(strings[index + 1] ?? ''),
  );
  const isShort = values.every(
    (value, index) => isList[index] !== true || (Array.isArray(value) && value.length <= FEW),
  );
  let text = strings[0] ?? '';
  const placed: unknown[] = [];
  const place = (value: unknown): string => `$${placed.push(value)}`;
  values.forEach((value, index) => {
    const isWritten = isShort && isList[index] === true && Array.isArray(value);
    text += isWritten ? `ARRAY[${value.map(place).join(', ')}]` : place(value);
    text += strings[index + 1] ?? '';
  });
  return { text, values: placed };
}
