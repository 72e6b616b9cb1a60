import fc from 'fast-check';
import { ident } from '../../database/sql.js';
import { BadRequest } from '../errors/errors.js';
import { cursorAfter, isAfter, readCursor } from './cursor.js';
import type { OrderTerm } from './order.js';

const term = (name: string, more: Partial<OrderTerm> = {}): OrderTerm => ({
  expression: ident('t', name),
  descending: false,
  name,
  kind: 'string',
  columnType: 'text',
  nullable: false,
  column: name,
  ...more,
});
const NAME = term('name');
const DATE = term('finished', {
  kind: 'datetime',
  columnType: 'timestamp with time zone',
  nullable: true,
  descending: true,
});
const ID = term('id', { kind: 'integer', columnType: 'integer' });
const encode = (content: unknown): string =>
  Buffer.from(JSON.stringify(content)).toString('base64url');

describe('a cursor', () => {
  const text = fc
    .string({ maxLength: 100 })
    .filter((text) => !text.includes('\0') && text.isWellFormed());
  const instant = fc
    .date({ min: new Date('1990-01-01'), max: new Date('2190-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString());

  it('decodes to the position from which it was created', () => {
    fc.assert(
      fc.property(
        text,
        fc.option(instant),
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.integer({ min: 2, max: 1_000_000 }),
        (name, finished, id, page) => {
          const terms = [NAME, DATE, ID];
          const cursor = cursorAfter({ name, finished, id }, terms, page);
          expect(readCursor(String(cursor), terms, page)).toEqual([name, finished, id]);
        },
      ),
    );
  });

  it('is ignored on another page or with another order', () => {
    const cursor = String(cursorAfter({ name: 'a', id: 1 }, [NAME, ID], 2));
    expect(readCursor(cursor, [NAME, ID], 3)).toBeNull();
    expect(readCursor(cursor, [term('name', { descending: true }), ID], 2)).toBeNull();
    expect(readCursor(cursor, [ID], 2)).toBeNull();
  });

  it('is not created if the position is too long for a URL or has no order', () => {
    expect(cursorAfter({ name: 'x'.repeat(2000), id: 1 }, [NAME, ID], 2)).toBeNull();
    expect(cursorAfter({ name: null, id: 1 }, [NAME, ID], 2)).toBeNull();
    expect(cursorAfter({ name: { a: 1 }, id: 1 }, [NAME, ID], 2)).toBeNull();
  });

  it.each([
    ['no text of ours', 'x'],
    ['no list', encode({ a: 1 })],
    ['too long', encode([2, 'name,id', 'x'.repeat(3000), 1])],
    ['too few values', encode([2, 'name,id', 'x'])],
    ['too many values', encode([2, 'name,id', 'x', 1, 1])],
    ['a value of another kind', encode([2, 'name,id', 'x', '1'])],
    ['a number no integer column holds', encode([2, 'name,id', 'x', 2 ** 31])],
    ['a text PostgreSQL does not take', encode([2, 'name,id', 'a\0', 1])],
    ['null where none can be', encode([2, 'name,id', null, 1])],
  ])('is refused: %s', (_what, forged) => {
    expect(() => readCursor(forged, [NAME, ID], 2)).toThrow(
      new BadRequest('Invalid value of "after".'),
    );
  });

  it('accepts the integers of a wide column that JavaScript represents exactly', () => {
    const wide = term('id', { kind: 'integer', columnType: 'bigint' });
    const place = (id: number): unknown => readCursor(encode([2, 'id', id]), [wide], 2);
    expect(place(2 ** 31)).toEqual([2 ** 31]);
    expect(place(Number.MAX_SAFE_INTEGER)).toEqual([Number.MAX_SAFE_INTEGER]);
    expect(() => place(Number.MAX_SAFE_INTEGER + 1)).toThrow(BadRequest);
  });

  it.each(['2026-02-30T00:00:00Z', '2026-01-01T25:00:00Z', 'yesterday', '0001-01-01T00:00:00Z'])(
    'is refused with the date %s',
    (date) => {
      expect(() => readCursor(encode([2, '-finished,id', date, 1]), [DATE, ID], 2)).toThrow(
        BadRequest,
      );
    },
  );

  it('is accepted, ignored or refused with 400, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => encode(JSON.parse(json))),
        ),
        (sent) => {
          try {
            readCursor(sent, [NAME, ID], 2);
          } catch (error) {
            expect(error).toBeInstanceOf(BadRequest);
          }
        },
      ),
    );
  });
});

describe('isAfter', () => {
  it('compares rows as tuples if all terms have the same direction', () => {
    const { text, values } = isAfter([NAME, ID], ['a', 1]).toQuery();
    expect(text).toBe('("t"."name", "t"."id") > ($1::text, $2::integer)');
    expect(values).toEqual(['a', 1]);
  });

  it('compares term by term if the directions differ', () => {
    const down = term('name', { descending: true });
    const { text, values } = isAfter([down, ID], ['a', 1]).toQuery();
    expect(text).toBe(
      '("t"."name" < $1::text OR ("t"."name" = $2::text AND "t"."id" > $3::integer))',
    );
    expect(values).toEqual(['a', 'a', 1]);
  });

  it('sorts nulls last, and first in descending order', () => {
    const up = term('finished', { nullable: true });
    expect(isAfter([up, ID], ['a', 1]).toQuery().text).toBe(
      '(("t"."finished" > $1::text OR "t"."finished" IS NULL)' +
        ' OR ("t"."finished" = $2::text AND "t"."id" > $3::integer))',
    );
    expect(isAfter([up, ID], [null, 1]).toQuery().text).toBe(
      '("t"."finished" IS NULL AND "t"."id" > $1::integer)',
    );
    expect(isAfter([DATE, ID], [null, 1]).toQuery().text).toBe(
      '("t"."finished" IS NOT NULL OR ("t"."finished" IS NULL AND "t"."id" > $1::integer))',
    );
  });
});
