import fc from 'fast-check';
import { parseDocument } from 'yaml';

import { parsePlainVariables } from './plain-variables.js';
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

describe('parsePlainVariables', () => {
  it.each([
    ['rack: 7', { rack: 7 }],
    [
      'ansible_host: 10.0.0.7\nansible_user: deploy\n',
      {
        ansible_host: '10.0.0.7',
        ansible_user: 'deploy',
      },
    ],
    ['proxy: http://proxy:3128/x', { proxy: 'http://proxy:3128/x' }],
  ])('reads %j', (text, expected) => {
    expect(parsePlainVariables(text)).toEqual(expected);
  });

  it.each([
    'yes: 1',
    'a: no',
    'a: E-5',
    'a: 1\na: 2',
    '__proto__: x',
    'a: 010',
    'a: 1.5',
    'a: x:',
    'a: b c',
    '',
  ])('leaves %j to the parser', (text) => {
    expect(parsePlainVariables(text)).toBeNull();
  });

  it('reads what it reads as the parser of YAML 1.1 does', () => {
    const words = ['y', 'No', 'ON', 'True', 'null', '~', 'NaN', 'inf', '0x1f', '1_0', '1e3', 'e5'];
    const word = fc.constantFrom(...words);
    const name = fc.oneof({ arbitrary: fc.stringMatching(/^\w{1,6}$/), weight: 4 }, word);
    const value = fc.oneof(
      word,
      fc.stringMatching(/^[A-Za-z_][\w./@:-]{0,12}$/),
      fc.stringMatching(/^[\w.@:-]{1,8}$/),
      fc.stringMatching(/^\d{1,16}$/),
      fc.ipV4(),
    );
    const text = fc
      .array(fc.tuple(name, value), { minLength: 1, maxLength: 3 })
      .map((pairs) => pairs.map((pair) => pair.join(': ')).join('\n'));
    let read = 0;
    fc.assert(
      fc.property(text, (sent) => {
        const plain = parsePlainVariables(sent);
        if (plain === null) return;
        read += 1;
        const document = parseDocument(sent, { version: '1.1' });
        expect(document.errors).toEqual([]);
        expect(plain).toEqual(document.toJS());
      }),
      { numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(1000);
  });
});
