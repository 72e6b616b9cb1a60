import fc from 'fast-check';
import {
  entriesOf,
  exactJson,
  ExactNumber,
  isInexact,
  isSameJson,
  mergeExact,
  parseExact,
  plainJson,
} from './exact-json.js';
import { jsonTexts } from '../../test/support/json-texts.js';

const json = jsonTexts(
  fc.oneof(fc.constantFrom('__proto__', 'constructor'), fc.string({ maxLength: 4 })),
  fc.oneof(fc.string(), fc.constantFrom('"1": 1.0', ' 1e5 ', '\\', '"', '{"443": [', 'é😀')),
);

it('exactJson writes parsed JSON unchanged, character by character', () => {
  fc.assert(
    fc.property(json, (sent) => {
      expect(exactJson(parseExact(sent))).toBe(sent);
    }),
    { numRuns: 3000 },
  );
});

it('exactJson parses the same as JSON.parse, with whitespace and repeated names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const pretty = JSON.stringify(value, null, 2);
      expect(parseExact(pretty)).toEqual(JSON.parse(pretty));
    }),
  );
  expect(exactJson(parseExact('{"443": 1, "a": 1.0, "443": 2}'))).toBe('{"443":2,"a":1.0}');
  expect(() => parseExact('{"443": 1,}')).toThrow(SyntaxError);
});

it.each(['{"a": 1, "b": [1.5, -2, 0, "x"], "c": {"d1": null}}', '[1.05, 10, 123456789012]'])(
  'exactJson detects that %s is exact',
  (sent) => expect(isInexact(sent)).toBe(false),
);

it('exactJson keeps the notation of numbers in copies and the order of keys in merges', () => {
  const [one, other] = ['{"b":1.0,"443":{"80":1,"22":2}}', '{"80":3,"b":12345678901234567890}'];
  const merged = mergeExact(...[one, other].map((sent) => parseExact(sent) as object));
  expect(exactJson(merged)).toBe('{"b":12345678901234567890,"443":{"80":1,"22":2},"80":3}');
  expect(exactJson({ ...merged, c: 1 })).toContain('"443":{"80":1,"22":2}');
  expect(entriesOf(merged).map(([key]) => key)).toEqual(['b', '443', '80']);
});

it('parsed JSON behaves as plain JSON for other code', () => {
  const value = parseExact('{"b":1.0,"443":[12345678901234567890]}');
  expect(JSON.stringify(value)).toBe('{"443":[12345678901234567000],"b":1}');
  expect(plainJson(value)).toEqual({ 443: [12345678901234567000], b: 1 });
  expect(plainJson(new ExactNumber('5.0'))).toBe(5);
});

it.each<[string, string, boolean]>([
  ['{"a":1,"b":[1,2]}', '{"b":[1,2],"a":1}', true],
  ['{"a":{"x":1,"y":2}}', '{"a":{"y":2,"x":1}}', true],
  ['[1,2]', '[2,1]', false],
  ['12345678901234567890', '12345678901234567891', false],
  ['{"a":null}', '{}', false],
])('exactJson compares %s with %s', (left, right, expected) => {
  expect(isSameJson(parseExact(left), parseExact(right))).toBe(expected);
});
