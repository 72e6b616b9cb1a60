/**
 * Runs in its own environment, so that other files do not see the resources declared here.
 *
 * @jest-environment node
 */
import { Entity } from 'typeorm';
import { raw, TRUE } from '../../database/sql.js';
import type { Actor } from '../access.js';
import { Char, Integer, Json, Reference } from '../fields/field.js';
import { BadRequest, Forbidden } from '../errors/errors.js';
import { defineResource, type ResourceDefinition } from '../resource/define-resource.js';
import { FilterCompiler } from './filter-compiler.js';
import { parseListQuery, type QueryParameters } from './query.js';

const ACTOR: Actor = { id: 7, username: 'ann', isSuperuser: false, isSystemAuditor: false };
const readable = (alias: string) => raw(`readable(${alias})`);
const policy = { read: readable, add: () => () => TRUE, change: readable, delete: readable };

@Entity('spec_shelves')
class ShelfSchema {
  @Integer({ readOnly: true })
  id!: number;
  @Char({ search: true })
  name!: string;
  @Json()
  secret!: object;
}
@Entity('spec_books')
class BookSchema extends ShelfSchema {
  @Reference('spec_shelf', { nullable: true })
  shelf!: number | null;
}
const shelves: ResourceDefinition = defineResource({
  path: 'spec_shelves',
  type: 'spec_shelf',
  entity: ShelfSchema,
  policy,
  relations: { books: { kind: 'has-many', target: () => books, field: 'shelf' } },
});
const books: ResourceDefinition = defineResource({
  path: 'spec_books',
  type: 'spec_book',
  entity: BookSchema,
  policy,
});

const compile = (definition: ResourceDefinition, parameters: QueryParameters) =>
  new FilterCompiler(ACTOR, () => null)
    .compile(definition, 't', parseListQuery(parameters))
    .toQuery();
const exists = (text: string): number => text.match(/EXISTS/g)?.length ?? 0;

describe('FilterCompiler', () => {
  it('compiles an empty query to TRUE', () => {
    expect(compile(books, {})).toEqual({ text: 'TRUE', values: [] });
  });

  it('binds every value and writes none into the statement', () => {
    const evil = `x'); DROP TABLE spec_books; --`;
    const { text, values } = compile(books, { name: evil, search: evil, name__in: evil });
    expect(text).not.toContain('DROP');
    expect(JSON.stringify(values)).toContain('DROP');
  });

  it('joins conditions by AND, joins or__ by OR, and negates not__', () => {
    expect(compile(books, { name: 'a', id: '1' }).text).toContain(' AND ');
    const any = compile(books, { or__name: 'a', or__id: '1' });
    expect(any.text).toContain(' OR ');
    expect(any.text).not.toContain(' AND ');
    expect(compile(books, { not__name: 'a' }).text).toMatch(/^NOT \(COALESCE\(/);
  });

  it('follows a relation only to rows that the caller may read', () => {
    const { text } = compile(books, { shelf__name: 'a' });
    expect(text).toContain('readable(f1)');
    expect(text).toContain('"f1"."id" = "t"."shelf_id"');
  });

  it('applies conditions to one related row, and with chain__ to one row each', () => {
    const one = compile(shelves, { books__name: 'a', books__id: '1' });
    const each = compile(shelves, { chain__books__name: 'a', chain__books__id: '1' });
    expect([exists(one.text), exists(each.text)]).toEqual([1, 2]);
  });

  it('follows the reverse of a reference, with or without underscores', () => {
    const { text } = compile(shelves, { spec_book_shelf__name: 'a' });
    expect(text).toContain('readable(f1)');
    expect(text).toContain('"f1"."shelf_id" = "t"."id"');
    expect(compile(shelves, { specbookshelf__name: 'a' }).text).toBe(text);
  });

  it('tests for missing related rows by EXISTS for each row, never by a join', () => {
    const lacks = /^NOT \(COALESCE\(EXISTS/;
    expect(compile(shelves, { books__isnull: 'true' }).text).toMatch(lacks);
    expect(compile(shelves, { not__books__name: 'a' }).text).toMatch(lacks);
    expect(compile(books, { shelf: 'null' }).text).not.toContain('EXISTS');
  });

  it('compares the type of rows that all have one type', () => {
    expect(compile(books, { or__type: 'spec_book' }).values).toContain('spec_book');
    expect(() => compile(books, { not__type: 'nonsense' })).toThrow(
      new BadRequest('"nonsense" is not a type of objects.'),
    );
  });

  it('compares the id of a reference without following it', () => {
    expect(exists(compile(books, { shelf__id: '1' }).text)).toBe(0);
    expect(exists(compile(books, { shelf: '1' }).text)).toBe(0);
  });

  it('escapes pattern characters in a search', () => {
    expect(compile(books, { search: '50%_' }).values).toEqual(['%50\\%\\_%']);
  });

  it.each([
    ['web-000421.prod', ['%000421%', '%web-000421.prod%']],
    ['20260131_x-00042', ['%00042%', '%20260131\\_x-00042%']],
    ['000421', ['%000421%']],
    ['web-0421', ['%web-0421%']],
  ])('searches an index for the last long number of %s', (term, values) => {
    expect(compile(books, { search: term }).values).toEqual(values);
    expect(compile(books, { name__icontains: term }).values).toEqual(values);
    expect(compile(books, { name__contains: term }).values).toEqual(values.slice(-1));
  });

  it.each<[QueryParameters, Error]>([
    [{ nothing: '1' }, new BadRequest("SpecBook has no field named 'nothing'")],
    [{ hasOwnProperty__x: '1' }, new BadRequest("SpecBook has no field named 'hasOwnProperty'")],
    [{ toString: '1' }, new BadRequest("SpecBook has no field named 'toString'")],
    [{ name__other: '1' }, new BadRequest('No related model for field name.')],
    [{ secret: '1' }, new Forbidden('Filtering on secret is not allowed.')],
    [
      { shelf__books__shelf__name: '1' },
      new BadRequest('Loops not allowed in filters, detected on field books.'),
    ],
    [
      { role_level: 'admin_role' },
      new BadRequest(
        'Cannot apply role_level filter to this list because its model does not use roles for access control.',
      ),
    ],
  ])('refuses %j', (parameters, error) => {
    expect(() => compile(books, parameters)).toThrow(error);
  });
});
