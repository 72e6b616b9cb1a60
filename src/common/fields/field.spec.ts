import { Char, fieldsOf, isSchema } from './field.js';

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
  it('have the fields of their ancestors first, and leave those theirs', () => {
    const namesOf = (schema: typeof Named): string[] => fieldsOf(schema).map(({ name }) => name);
    expect(namesOf(Same)).toEqual(['name', 'title']);
    expect(namesOf(Titled)).toEqual(['name', 'title']);
    expect(namesOf(Named)).toEqual(['name']);
  });

  it('are told from others, which are left as they are', () => {
    expect([Named, Titled, Same].map(isSchema)).toEqual([true, true, true]);
    const others = [Plain, Object, String, () => undefined, undefined, {}];
    const symbols = () =>
      [Plain, Object].map(({ prototype }) => Object.getOwnPropertySymbols(prototype));
    const before = symbols();
    expect(others.map(isSchema)).toEqual(others.map(() => false));
    expect(symbols()).toEqual(before);
  });
});
