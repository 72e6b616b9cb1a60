import { parseVariables, VariablesError } from './variables.js';

const BOMB = [
  'a: &a [x,x,x,x,x,x,x,x,x,x]',
  ...'bcdefghi'.split('').map((name, index) => {
    const before = 'abcdefgh'[index];
    return `${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`;
  }),
].join('\n');

describe('parseVariables', () => {
  it.each([
    ['', {}],
    ['  \n', {}],
    ['""', {}],
    ['---', {}],
    ['null', {}],
    ['{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ['a: 1\nb: yes\nc: "yes"', { a: 1, b: true, c: 'yes' }],
    ['base: &x {k: 1}\nd:\n  <<: *x', { base: { k: 1 }, d: { k: 1 } }],
    ['constructor: 1', { constructor: 1 }],
    ['1: one', { 1: 'one' }],
  ])('reads %j', (text, expected) => {
    expect(parseVariables(text)).toEqual(expected);
  });

  it.each([
    ['[1]', 'Input type `list` is not a dictionary'],
    ['text', 'Input type `string` is not a dictionary'],
    ['a: [', 'Cannot parse as JSON'],
    ['a: 1\na: 2', 'Map keys must be unique'],
    ['a: !vault x', 'Unresolved tag'],
    ['a: 2026-01-01', 'not compatible with JSON'],
    ['a: .inf', 'numbers must be finite'],
    ['{a: {[1]: 2}', 'Cannot parse as JSON'],
    ['{"__proto__": {"x": 1}}', '"__proto__" is not allowed'],
    ['a: {__proto__: {x: 1}}', '"__proto__" is not allowed'],
    [BOMB, 'Excessive alias count'],
    ['a: &a [*a]', 'Cannot parse as JSON'],
    ['{"a":'.repeat(500) + '1' + '}'.repeat(500), 'nested deeper than 64 levels'],
    ['['.repeat(20_000), 'Cannot parse as JSON'],
  ])('refuses %j', (text, message) => {
    expect(() => parseVariables(text)).toThrow(VariablesError);
    expect(() => parseVariables(text)).toThrow(message);
    expect(() => parseVariables(text)).toThrow(
      /^Cannot parse as JSON \(error: [^]*\) or YAML \(error: [^]*\)\.$/,
    );
  });
});
