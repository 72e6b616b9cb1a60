/**
 * Runs in its own environment, so that other files do not see the entities declared here.
 *
 * @jest-environment node
 */
import { Entity, getMetadataArgsStorage } from 'typeorm';
import { WIDE } from './column-types.js';
import { Char, fieldsOf, Includes, Integer, isSchema, Reference } from './field.js';

class Named {
  @Char()
  name!: string;
}
class Titled extends Named {
  @Char()
  title!: string;
}
class Same extends Titled {}
class Plain {}

describe('schema classes', () => {
  it('have the fields of their ancestors first, and do not change the ancestors', () => {
    const namesOf = (schema: typeof Named): string[] => fieldsOf(schema).map(({ name }) => name);
    expect(namesOf(Same)).toEqual(['name', 'title']);
    expect(namesOf(Titled)).toEqual(['name', 'title']);
    expect(namesOf(Named)).toEqual(['name']);
  });

  it('are distinguished from other values, which stay unchanged', () => {
    expect([Named, Titled, Same].map(isSchema)).toEqual([true, true, true]);
    const others = [Plain, Object, String, () => undefined, undefined, {}];
    const symbols = () =>
      [Plain, Object].map(({ prototype }) => Object.getOwnPropertySymbols(prototype));
    const before = symbols();
    expect(others.map(isSchema)).toEqual(others.map(() => false));
    expect(symbols()).toEqual(before);
  });
});

describe('columns of schema classes', () => {
  class Note {
    @Char({ default: 'x' })
    note!: string;
  }
  @Entity('spec_things')
  @Includes(Note)
  class Thing extends Named {
    @Reference('spec_thing', { index: 'where set' })
    parent!: number;
    @Char({ column: null })
    computed!: string;
  }
  class WideThing extends Thing {
    @Char({ default: 'other' })
    note!: string;
    @Integer(WIDE)
    size!: number;
  }
  const storage = getMetadataArgsStorage();
  const columns = () => storage.filterColumns([Thing, Named]);

  it('are declared to TypeORM, and those of subclasses are nullable', () => {
    expect(storage.filterColumns(WideThing)).toEqual([]);
    expect(
      columns().map(({ propertyName, options: { type, nullable, default: value } }) => [
        propertyName,
        type,
        nullable,
        value,
      ]),
    ).toEqual([
      ['name', 'text', false, ''],
      ['parent_id', 'integer', false, undefined],
      ['note', 'text', false, 'x'],
      ['size', 'bigint', true, undefined],
    ]);
  });

  it('have the foreign key and the index of a reference', () => {
    expect(storage.filterForeignKeys(Thing)).toMatchObject([
      { propertyName: 'parent_id', onDelete: 'CASCADE', deferrable: 'INITIALLY IMMEDIATE' },
    ]);
    expect(storage.filterIndices(Thing)).toMatchObject([
      { columns: ['parent_id'], where: '(parent_id IS NOT NULL)' },
    ]);
  });

  it('must keep their type, because TypeORM uses the column of the base class', () => {
    const declare = (): unknown => {
      class Other extends Thing {
        @Integer()
        note!: never;
      }
      return Other;
    };
    expect(declare).toThrow('the column note of Other has one type');
  });
});
