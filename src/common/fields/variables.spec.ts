import fc from 'fast-check';
import {
  areStorableVariables,
  costlyToRead,
  parseSentVariables,
  parseVariables,
  readAhead,
  readAllVariables,
  readVariables,
  VariablesError,
  parsePlainVariables,
} from './variables.js';
import { readAllYaml } from './yaml-reader.js';

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
    ['a: 1\nb: 2\na: 3', { a: 3, b: 2 }],
    ['y: n', { y: 'n' }],
    ['zip: 08012\nsha: 12e4\nid: 83e20108', { zip: '08012', sha: '12e4', id: '83e20108' }],
    ['a: 00:11:22\nb: 1:30\nc: -.5\n1e3: x', { a: '00:11:22', b: 90, c: '-.5', '1e3': 'x' }],
    ['a: |\n  no last line break', { a: 'no last line break' }],
    ['x: &x {k: 1, l: 1}\nd:\n  l: 2\n  <<: *x', { x: { k: 1, l: 1 }, d: { k: 1, l: 2 } }],
  ])('reads %j', (text, expected) => {
    expect(parseVariables(text)).toEqual(expected);
  });

  it.each([
    ['[1]', 'Input type `list` is not a dictionary'],
    ['text', 'Input type `string` is not a dictionary'],
    ['a: [', 'Cannot parse as JSON'],
    ['? [a]\n: 1', 'a list cannot be a key'],
    ['2026-01-01: a', 'in quotes'],
    ['a: =', 'in quotes'],
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

describe('variables that are parsed in advance', () => {
  const long = (text: string): string => `${text}\n${'# '.repeat(2000)}`;

  it.each([
    ['an object', 'a: 1\nb: [yes, 2]', { a: 1, b: [true, 2] }],
    ['names that recur in other mappings', 'a: {k: 1}\nb: {k: 1}', { a: { k: 1 }, b: { k: 1 } }],
    ['merges', 'x: &x {k: 1}\na: {<<: *x}', { x: { k: 1 }, a: { k: 1 } }],
  ])('have the same value as variables parsed in place: %s', async (_what, text, expected) => {
    expect(await costlyToRead([long(text)])).toEqual([long(text)]);
    expect(await readVariables(long(text))).toEqual(expected);
    expect(parseVariables(text)).toEqual(expected);
  });

  it.each(['? [a]\n: 1', '{a: 1, {}: 2}', 'a: !vault x', '- 1', BOMB])(
    'cause the same error as variables parsed in place: %j',
    async (text) => {
      const own = (error: unknown): string =>
        (error as Error).message.split('YAML (error')[1] ?? '';
      const inPlace = await Promise.resolve()
        .then(() => parseVariables(text))
        .catch(own);
      expect(await readVariables(long(text)).catch(own)).toBe(inPlace);
      expect(inPlace).toMatch(/\)\.$/);
    },
  );

  it('are a new object for each caller, and are dropped after the last one', async () => {
    const text = long('a: [1]');
    const forgets = await Promise.all([readAhead([text]), readAhead([text, 'b: 1'])]);
    expect(parseVariables(text)).toEqual({ a: [1] });
    expect(parseVariables(text)).not.toBe(parseVariables(text));
    for (const forget of forgets) forget();
    expect(parseVariables(text)).toEqual({ a: [1] });
  });

  it('may be larger as JSON than as YAML', () => {
    const names = Array.from({ length: 9000 }, (_, index) => [`name_${index}`, index]);
    const yaml = names.map((pair) => pair.join(': ')).join('\n');
    expect(() => parseSentVariables(yaml)).toThrow(
      /YAML \(error: longer than 65536 characters\)\.$/,
    );
    const json = JSON.stringify(Object.fromEntries(names));
    expect(json.length).toBeGreaterThan(65_536);
    expect(parseSentVariables(json)).toHaveProperty('name_8999', 8999);
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`n${index}`, 0]));
    expect(() => parseSentVariables(JSON.stringify(many))).toThrow('too many values');
    delete many.n0;
    expect(Object.keys(parseSentVariables(JSON.stringify(many)))).toHaveLength(10_000);
    expect(() => parseSentVariables(`{"a": "${'x'.repeat(1_048_576)}"}`)).toThrow(
      'Variables may have at most 1048576 characters.',
    );
  });
});

describe('readAllVariables', () => {
  const long = (name: string): string => `${name}: [1]\n${'# '.repeat(2000)}`;

  it('parses texts of any form, and reports the errors of each', async () => {
    const read = await readAllVariables([long('a'), '{"b": 2}', 'c: 3', '', long('d: e')]);
    expect(read(long('a'))).toEqual({ a: [1] });
    expect(read('{"b": 2}')).toEqual({ b: 2 });
    expect(read('c: 3')).toEqual({ c: 3 });
    expect(read('')).toEqual({});
    expect(() => read(long('d: e'))).toThrow(VariablesError);
    expect(read('not: among them')).toEqual({ not: 'among them' });
  });
});

describe('areStorableVariables', () => {
  const long = (value: string): string => `a: ${value}\n${'# '.repeat(2000)}`;

  it.each([
    ['1', true],
    ['"\\u00e9 \\\\u0000"', true],
    ['"\\0"', false],
    ['"\\ud800"', false],
  ])('of the YAML a: %s, parsed in advance or not: %s', async (value, expected) => {
    expect(areStorableVariables(`a: ${value}`)).toBe(expected);
    const forget = await readAhead([long(value)]);
    expect(areStorableVariables(long(value))).toBe(expected);
    forget();
  });

  it.each(['\\ud800', '\\uD800', '\\u0000'])('of a long JSON text with %s: false', (text) => {
    expect(areStorableVariables(`{"a": "${text}${'x'.repeat(70_000)}"}`)).toBe(false);
  });

  it('throws if the text does not contain variables', () => {
    expect(() => areStorableVariables('- 1')).toThrow(VariablesError);
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
    'a: 1\na: 2',
    '__proto__: x',
    'a: 010',
    'a: 1.5',
    'a: x:',
    'a: b c',
    '',
  ])('leaves %j to the full parser', (text) => {
    expect(parsePlainVariables(text)).toBeNull();
  });

  it('agrees with the full YAML parser', () => {
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
    const limits = { aliases: 0, depth: 1, length: 1000 };
    let read = 0;
    fc.assert(
      fc.property(text, (sent) => {
        const plain = parsePlainVariables(sent);
        if (plain === null) return;
        read += 1;
        const [outcome] = readAllYaml({ texts: [sent], limits });
        expect(outcome).toEqual({ json: JSON.stringify(plain) });
      }),
      { numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(1000);
  });
});
