import fc from 'fast-check';
import { BadRequest } from '../errors/errors.js';
import { LOOKUPS, parseListQuery, searchTerms } from './query.js';

const NAME = fc.constantFrom('name', 'organization', 'created_by', 'last_job', 'id');
const LOOKUP = fc.constantFrom(...LOOKUPS);

describe('parseListQuery', () => {
  it('splits any path, lookup and prefix', () => {
    fc.assert(
      fc.property(
        fc.array(NAME, { minLength: 1, maxLength: 4 }),
        fc.option(LOOKUP, { nil: null }),
        fc.constantFrom('', 'or', 'chain'),
        fc.boolean(),
        fc.string().filter((value) => !value.includes('\0') && value.isWellFormed()),
        (path, lookup, group, negated, value) => {
          const prefixes = [...(group ? [group] : []), ...(negated ? ['not'] : [])];
          const key = [...prefixes, ...path, ...(lookup ? [lookup] : [])].join('__');
          const { all, any, chained } = parseListQuery({ [key]: value });
          const condition = { key, path, lookup: lookup ?? 'exact', negated, value };
          expect({ '': all, or: any, chain: chained }[group]).toMatchObject([condition]);
          expect([...all, ...any, ...chained]).toHaveLength(1);
        },
      ),
    );
  });

  it('distinguishes a lookup from a field with the same name', () => {
    expect(parseListQuery({ search__in: '1' }).all).toMatchObject([
      { path: ['search'], lookup: 'in' },
    ]);
    expect(parseListQuery({ exact: 'x' }).all).toMatchObject([
      { path: ['exact'], lookup: 'exact' },
    ]);
  });

  it('casts if the key ends with int', () => {
    const { all } = parseListQuery({ name__gt__int: '5' });
    expect(all).toMatchObject([{ path: ['name'], lookup: 'gt', castInteger: true }]);
  });

  it('reads a repeated key as two conditions', () => {
    const { all } = parseListQuery({ name__contains: ['a', 'b'] });
    expect(all.map(({ value }) => value)).toEqual(['a', 'b']);
  });

  it('separates parameters that are not filters', () => {
    const parsed = parseListQuery({
      page: '2',
      page_size: '5',
      type: ['job,project', 'team'],
      order_by: 'name, -id,,-',
      order: 'created',
      search: 'two "whole words"',
      role_level: 'admin_role',
    });
    expect(parsed).toEqual({
      all: [],
      any: [],
      chained: [],
      search: ['two', 'whole words'],
      types: ['job', 'project', 'team'],
      order: ['name', '-id', 'created'],
      expressions: [],
      roleLevel: 'admin_role',
    });
  });

  it.each([
    [{ näme: 'x' }, '"näme" is not an allowed field name. Must be ascii encodable.'],
    [{ or__: 'x' }, 'Query string field name not provided.'],
    [{ not: 'x' }, 'Query string field name not provided.'],
    [{ name____contains: 'x' }, 'Query string field name not provided.'],
    [{ name: 'a\0b' }, 'Null characters are not allowed in the query string.'],
    [{ name: Array.from({ length: 101 }, () => 'x') }, 'Too many query parameters.'],
    [{ order_by: 'a,'.repeat(17) }, 'A list may be ordered by at most 16 fields.'],
    [{ search: 'a '.repeat(33) }, 'A search may have at most 32 words.'],
    [{ search: 'a'.repeat(513) }, 'A search may have at most 512 characters.'],
  ])('refuses %j', (parameters, text) => {
    expect(() => parseListQuery(parameters)).toThrow(new BadRequest(text));
  });

  it('reads or refuses any query, and never throws', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { maxKeys: 5 }), (parameters) => {
        try {
          parseListQuery(parameters);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequest);
        }
      }),
    );
  });
});

describe('searchTerms', () => {
  it('splits words by spaces and commas', () => {
    const word = fc.stringMatching(/^[a-z0-9._-]{1,8}$/);
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 20 }),
        fc.constantFrom(' ', ',', ', '),
        (words, by) => {
          expect(searchTerms(words.join(by))).toEqual(words);
          expect(searchTerms(words.map((word) => `"${word}"`).join(by))).toEqual(words);
        },
      ),
    );
  });
});
