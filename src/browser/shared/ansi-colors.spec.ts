import { ansiColors } from './ansi-colors.js';

const rules = ansiColors().trim().split('\n');

it.each([
  [0, '.ansi-16{color:#000000;background:#ffffff}'],
  [5, '.ansi-21{color:#0000ff;background:#ffffff}'],
  [180, '.ansi-196{color:#ff0000}'],
  [192, '.ansi-208{color:#ff8700}'],
  [215, '.ansi-231{color:#ffffff}'],
  [239, '.ansi-255{color:#eeeeee}'],
])('uses the exact color of rule %i, with a readable background', (index, rule) => {
  expect(rules).toHaveLength(240);
  expect(rules[index]).toBe(rule);
});
