import { withFewValues } from './few-values.js';
import { sql } from './sql.js';

describe('withFewValues', () => {
  it('writes short lists of ids out, and numbers what follows anew', () => {
    const asked = sql`SELECT ${'a'}, x FROM t WHERE id = ANY(${[7, 8]}::int[]) AND y = ${'b'}
      AND z = ANY(${[9]}::bigint[]) AND n = ANY(${[]}::integer[])`;
    expect(withFewValues(asked)).toEqual({
      text: `SELECT $1, x FROM t WHERE id = ANY(ARRAY[$2, $3]::int[]) AND y = $4
      AND z = ANY(ARRAY[$5]::bigint[]) AND n = ANY(ARRAY[]::integer[])`,
      values: ['a', 7, 8, 'b', 9],
    });
  });

  it('leaves all lists alone where one is long: a page has many numbers of them', () => {
    const asked = sql`SELECT 1 WHERE 1 = ANY(${[1, 2, 3]}::int[]) OR 2 = ANY(${[2]}::int[])`;
    expect(withFewValues(asked)).toEqual(asked.toQuery());
  });

  it('leaves lists of texts alone', () => {
    const asked = sql`SELECT 1 WHERE 'x' = ANY(${['x']}::text[])`;
    expect(withFewValues(asked)).toEqual(asked.toQuery());
  });
});
