import fc from 'fast-check';
import { jsonText, variablesText } from './json-text.js';

it.each<[unknown, string]>([
  [{}, '{}'],
  [{ a: 'b', c: 1 }, '{"a": "b", "c": 1}'],
  [{ a: [1, [], { b: null }], c: {} }, '{"a": [1, [], {"b": null}], "c": {}}'],
  [{ 'x,y': 'a:b, "c": {d}' }, '{"x,y": "a:b, \\"c\\": {d}"}'],
  [{ name: 'Zoë\n' }, '{"name": "Zoë\\n"}'],
])('jsonText writes %j as %s', (value, text) => {
  expect(jsonText(value)).toBe(text);
});

it('jsonText writes the same JSON as JSON.stringify', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (variables) => {
      const compact = JSON.stringify(variables);
      expect(JSON.stringify(JSON.parse(jsonText(variables)))).toBe(compact);
      expect(variablesText(variables)).toBe(jsonText(variables));
    }),
  );
});
