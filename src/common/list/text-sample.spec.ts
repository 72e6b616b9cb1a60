import { TextSample, trigramsOf } from './text-sample.js';

it.each([
  ['web', { web: [0] }],
  ['WEB', { web: [0] }],
  ['abab', { aba: [0], bab: [1] }],
  ['ababa', { aba: [0, 2], bab: [1] }],
  ['fra1-04', { fra: [0], ra1: [1], 'a1 ': [2], ' 04': [4] }],
  ['a_b', {}],
  ['50%', { '50 ': [0] }],
  ['x\\yz', { ' yz': [1] }],
  ['ünï', { ünï: [0] }],
  // Two characters of JavaScript, one letter of PostgreSQL.
  ['𝐀b', { '𝐀b': [0] }],
  ['b𝐀', { 'b𝐀': [0] }],
  ['ab𝐀', { 'b𝐀': [1] }],
  ['ab', {}],
])('trigrams of %s', (text, expected) => {
  expect(Object.fromEntries(trigramsOf(text))).toEqual(expected);
});

it('knows which texts have a trigram, at their edges too', () => {
  const rest = Array.from({ length: 20 }, () => 'other');
  const sample = new TextSample(['web-1', 'db-web', 'webweb', ...rest]);
  expect(sample.size).toBe(23);
  expect([...sample.having('web')]).toEqual([0, 1, 2]);
  expect([...sample.having(' we')]).toEqual([0, 1, 2]);
  expect([...sample.having('eb ')]).toEqual([0, 1, 2]);
  expect([...sample.having('ebw')]).toEqual([2]);
  expect([...sample.having('xyz')]).toEqual([]);
});

it('learns nothing of few texts', () => {
  expect(new TextSample(Array.from({ length: 19 }, () => 'web')).size).toBe(0);
});
