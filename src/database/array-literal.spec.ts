import { arrayLiteral } from './array-literal.js';

describe('a list as PostgreSQL reads it', () => {
  it.each([
    [[], '{}'],
    [[1, -2, 2.5], '{1,-2,2.5}'],
    [[true, false, null, undefined], '{true,false,NULL,NULL}'],
    [['a', '', 'NULL', 'a,b {c}'], '{"a","","NULL","a,b {c}"}'],
    [['"', '\\', 'a\\"b\\\\', 'two\nlines'], '{"\\"","\\\\","a\\\\\\"b\\\\\\\\","two\nlines"}'],
  ])('writes %j', (values, text) => {
    expect(arrayLiteral(values)).toBe(text);
  });

  it.each([[[new Date(0)]], [[Buffer.from('a')]], [[[1], [2]]], [[1n]]])(
    'leaves to the driver what has other values',
    (values) => {
      expect(arrayLiteral([1, ...values])).toBeNull();
    },
  );
});
