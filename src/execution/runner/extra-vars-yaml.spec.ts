import fc from 'fast-check';
import { parse, parseDocument } from 'yaml';
import { parseRecord } from '../../common/records.js';
import { toExtraVarsYaml } from './extra-vars-yaml.js';

describe('toExtraVarsYaml', () => {
  it('tags texts under unsafe keys at every depth, and no others', () => {
    const yaml = toExtraVarsYaml(
      { own: '{{ a }}', their: { k: ['{{ b }}', 1, null, true] } },
      new Set(['their']),
    );
    expect(yaml).toBe(
      '---\n? "own"\n: "{{ a }}"\n? "their"\n: {? !unsafe "k" : [!unsafe "{{ b }}", 1, null, true]}\n',
    );
  });

  it.each([
    '',
    '~',
    '&',
    '*',
    '!',
    'NULL',
    'Yes',
    '007',
    '0x1F',
    '0b1',
    '-.inf',
    '1_0:30',
    '2001-12-14T21:59:43.1Z',
  ])('does not tag %j, which Ansible would then read as another type', (text) => {
    expect(toExtraVarsYaml({ text }, new Set(['text']))).toBe(`---\n? "text"\n: "${text}"\n`);
  });

  it.each([
    [{}, '---\n{}\n'],
    [{ a: undefined, b: 1e21 }, '---\n? "b"\n: 1.0e+21\n'],
    [{ a: 1e-7, b: Number.NaN }, '---\n? "a"\n: 1.0e-7\n? "b"\n: null\n'],
    [{ a: '\uD800\u2028\u0085\0😀' }, '---\n? "a"\n: "\uFFFD\\u2028\\u0085😀"\n'],
    [
      parseRecord('{"a": [1e5, 1.5E-3, 1.0, -12345678901234567890], "b": {"443": 1, "80": 2}}'),
      '---\n? "a"\n: [1.0e+5, 1.5e-3, 1.0, -12345678901234567890]\n? "b"\n: {? "443" : 1, ? "80" : 2}\n',
    ],
  ])('writes %j', (variables, expected) => {
    expect(toExtraVarsYaml(variables, new Set())).toBe(expected);
  });

  it('writes YAML that parses to the same value, for any JSON value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (variables) => {
        const clean = JSON.parse(JSON.stringify(variables).replaceAll('\\u0000', '')) as unknown;
        fc.pre(!JSON.stringify(variables).includes('__proto__'));
        fc.pre(JSON.stringify(clean).length === JSON.stringify(variables).length);
        expect(parse(toExtraVarsYaml(variables, new Set()))).toEqual(clean);
      }),
    );
  });

  it('cuts deep nesting instead of failing', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    expect(parseDocument(toExtraVarsYaml({ deep }, new Set())).errors).toEqual([]);
  });
});
