import { ident } from '../../database/sql.js';
import { holds, tellingParts } from './telling-parts.js';
import { TextSample } from './text-sample.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const digits = (number: number, length: number): string => String(number).padStart(length, '0');

/** Seven digits: each three of them are in one of 200 names. */
const NUMBERED = new TextSample(
  numbers(1000).map((number) => `web-${digits((number * 7_919_333) % 10_000_000, 7)}`),
);

const SITES = ['fra', 'ams', 'lon', 'nyc', 'sfo', 'sin', 'tok', 'syd', 'par', 'ber', 'mad'];
const TEAMS = ['payments', 'billing', 'identity', 'catalog', 'shipping', 'accounting'];
const MIXED = new TextSample(
  numbers(1000).map(
    (number) =>
      `${['web', 'build'][number % 2]}-prod-${SITES[number % 11]}${number % 7}-` +
      `${digits((number * 7919) % 10_000, 4)}.${TEAMS[number % 6]}.example.com`,
  ),
);

it.each([
  // Three letters that others go over tell little more.
  ['web-3141592', ['314', '415', '592']],
  ['WEB-3141592', ['314', '415', '592']],
  ['3141592', ['314', '415', '592']],
  ['web-314', ['-314']],
  // All have it, or nothing would be left out.
  ['web', []],
  ['web-', []],
  ['159', []],
  ['ab', []],
  ['', []],
  // A letter that is folded into two.
  ['İweb-314', []],
])('among numbers, %s is looked for by %j', (term, parts) => {
  expect(tellingParts(term, NUMBERED)).toEqual(parts);
});

it.each([
  ['web-prod-fra1-0421', ['ra1', '0421']],
  ['0421.payments', ['0421.']],
  ['fra1-04', ['ra1-', '-04']],
  // A word of so many names leaves too many of them, whatever of it is named.
  ['build-prod', []],
  ['payments.example', []],
])('among names of all kinds, %s is looked for by %j', (term, parts) => {
  expect(tellingParts(term, MIXED)).toEqual(parts);
});

it('names letters that were never seen', () => {
  expect(tellingParts('web-𝐀bc', NUMBERED)).toEqual(['-𝐀b']);
});

it('weighs the rarest of a long term', () => {
  const term = numbers(1000).join('');
  expect(tellingParts(term, NUMBERED).join('').length).toBeLessThan(100);
  expect(tellingParts('314159'.repeat(2500), NUMBERED)).toEqual(['1415', '931']);
});

it('knows nothing of few texts', () => {
  expect(tellingParts('web-3141592', new TextSample(['web-1', 'web-2']))).toEqual([]);
});

it('what is found by the parts has the whole term', () => {
  const { text, values } = holds(ident('t', 'name'), 'web_7%', NUMBERED).toQuery();
  expect(text).toBe(`("t"."name" ILIKE $1 AND ("t"."name" || '') ILIKE $2)`);
  expect(values).toEqual(['%\\_7\\%%', '%web\\_7\\%%']);
});
