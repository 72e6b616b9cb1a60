import { newRecoveryCode, newSecret, stepOf, uriOf } from './totp.js';

/** Secret and codes of RFC 6238, appendix B, with six digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

it.each([
  [59, '287082', 1],
  [1_111_111_109, '081804', 37_037_036],
  [20_000_000_000, '353130', 666_666_666],
])('a second factor accepts the code of second %i', (second, code, step) => {
  const at = (steps: number): number => (second + 30 * steps) * 1000;
  expect([-2, -1, 0, 1, 2].map((steps) => stepOf(SECRET, code, at(steps)))).toEqual([
    null,
    step,
    step,
    step,
    null,
  ]);
});

it('a second factor refuses other codes', () => {
  for (const code of ['', '28708', '2870820', 'abcdef', '-87082']) {
    expect(stepOf(SECRET, code, 59_000)).toBeNull();
  }
});

it('a second factor creates secrets of 160 bits and recovery codes of 80 bits', () => {
  expect(newSecret()).toMatch(/^[A-Z2-7]{32}$/);
  expect(newRecoveryCode()).toMatch(/^(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
  expect(uriOf(SECRET, 'a b:c')).toContain(`otpauth://totp/Automation%20Controller:a%20b%3Ac?`);
});
