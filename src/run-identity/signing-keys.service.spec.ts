import { publishedKeys, signingKey } from './signing-keys.service.js';

const HOUR = 60 * 60;
const keys = (...hours: number[]) => hours.map((age) => ({ age: age * HOUR }));
const hoursOf = (found: { age: number }[]) => found.map(({ age }) => age / HOUR);

it.each<[string, number[], number | undefined, number[]]>([
  ['no key', [], undefined, []],
  ['the only key, however new', [0], 0, [0]],
  ['the former key while verifiers may not know the new one', [0.5, 900], 900, [0.5, 900]],
  ['the new key once it was published for an hour', [1, 900], 1, [1, 900]],
  ['the new key alone once the tokens of the former one have expired', [26, 900], 26, [26]],
  ['the newest known key after several rotations', [0.1, 2, 3, 30, 900], 2, [0.1, 2, 3, 30]],
])('signs with %s', (_name, ages, signing, published) => {
  const found = signingKey(keys(...ages));
  expect(found ? found.age / HOUR : undefined).toBe(signing);
  expect(hoursOf(publishedKeys(keys(...ages)))).toEqual(published);
});
