import { ident } from '../../database/sql.js';
import { commonAmong, holds, tellingParts } from './common-trigrams.js';

const NAMES = Array.from({ length: 200 }, (_, number) => `web-${String(number).padStart(5, '0')}`);
const COMMON = commonAmong(NAMES);

it('common is what many values have', () => {
  expect([...COMMON].toSorted()).toEqual(['000', '001', 'web']);
  expect(commonAmong(NAMES.slice(0, 19))).toEqual(new Set());
});

it.each([
  ['web-00421', ['00421']],
  ['WEB-00421', ['00421']],
  ['web', []],
  ['web-000', []],
  ['421', []],
  ['db-web-prod', ['prod']],
  ['abcwebxyz', ['abcwe', 'ebxyz']],
  ['ünïweb', ['ünïwe']],
  ['50%_web_off', ['off']],
  ['𝐀bcweb', ['𝐀b', 'bcwe']],
  ['İweb', []],
  ['', []],
])('%s is looked for by %j', (term, parts) => {
  expect(tellingParts(term, COMMON)).toEqual(parts);
});

it('what is found by the parts has the whole term', () => {
  const { text, values } = holds(ident('t', 'name'), 'web-421_9', COMMON).toQuery();
  expect(text).toBe(`("t"."name" ILIKE $1 AND ("t"."name" || '') ILIKE $2)`);
  expect(values).toEqual(['%421%', '%web-421\\_9%']);
});
