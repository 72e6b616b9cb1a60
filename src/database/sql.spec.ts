import { sql, withShortLists } from './sql.js';

describe('short lists of ids', () => {
  it('are written as arrays of parameters, and later parameters are renumbered', () => {
    const asked = sql`SELECT ${'a'}, x FROM t WHERE id = ANY(${[7, 8]}::int[]) AND y = ${'b'}
      AND z = ANY(${[9]}::bigint[]) AND n = ANY(${[]}::integer[])`;
    expect(withShortLists(asked).toQuery()).toEqual({
      text: `SELECT $1, x FROM t WHERE id = ANY(ARRAY[$2, $3]::int[]) AND y = $4
      AND z = ANY(ARRAY[$5]::bigint[]) AND n = ANY(ARRAY[]::integer[])`,
      values: ['a', 7, 8, 'b', 9],
    });
  });

  it('stay one parameter if a list is long, because its length varies', () => {
    const asked = sql`SELECT 1 WHERE 1 = ANY(${[1, 2, 3]}::int[]) OR 2 = ANY(${[2]}::int[])`;
    expect(withShortLists(asked)).toBe(asked);
  });

  it('do not include lists of texts', () => {
    const asked = sql`SELECT 1 WHERE 'x' = ANY(${['x']}::text[])`;
    expect(withShortLists(asked).toQuery()).toEqual(asked.toQuery());
  });
});
