import fc from 'fast-check';

/** JSON numbers, some in forms that JavaScript would change. */
const number = fc.oneof(
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.stringMatching(/^-?(?:0|[1-9]\d{0,2})(?:\.\d{1,3})?(?:[eE][-+]?\d)?$/),
  fc.constantFrom('-0', '0.0', '1.0', '1e5', '1E-2', '100000000000000000000000', '0.1'),
);

/** Generates JSON texts without blanks: big integers, floats in any form, numeric names in any order. */
export function jsonTexts(names: fc.Arbitrary<string>, texts: fc.Arbitrary<string>) {
  const name = fc.oneof(fc.constantFrom('443', '80', '0', '007', '-1', 'a', 'b'), names);
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      number,
      texts.map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'false', 'null'),
      fc
        .uniqueArray(fc.tuple(name, tie('json')), { maxLength: 4, selector: ([key]) => key })
        .map((all) => `{${all.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`),
      fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    ),
  }));
  return json;
}
