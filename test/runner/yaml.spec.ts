import fc from 'fast-check';

import { readAllYaml } from '../../src/common/fields/yaml-reader.js';
import { IS_DEEP } from '../support/depth.js';
import { linesOfPython } from '../support/python.js';

/** Program that reads one text per line, and prints PyYAML's value of each as JSON, or its error. */
const PYTHON = `
import json, sys, yaml
# PyYAML 6.0.4 takes merged keys for the same if they are one object, and Python has one object for each letter.
class Text(str): pass
class Loader(yaml.SafeLoader):
    def compose_scalar_node(self, anchor):
        node = super().compose_scalar_node(anchor)
        node.value = Text(node.value)
        return node
for line in sys.stdin:
    try:
        value = yaml.load(json.loads(line), Loader)
        value = {} if value is None else value
        if not isinstance(value, dict):
            raise TypeError('is not a dictionary')
        # Keys that are different for Python may be the same for JSON.
        value = json.loads(json.dumps(value, allow_nan=False))
        parsed = {'json': json.dumps(value, separators=(',', ':'))}
    except Exception as error:
        parsed = {'error': type(error).__name__ + ': ' + str(error)}
    print(json.dumps(parsed))
`;

type Reading = { json: string } | { error: string };

const readByPython = (texts: readonly string[]): Reading[] =>
  linesOfPython(
    PYTHON,
    texts.map((text) => JSON.stringify(text)),
  ).map((line) => JSON.parse(line) as Reading);

const LIMITS = { aliases: 100, depth: 64, length: 1_048_576 };

/** JSON in ASCII, as Python writes it. */
const ascii = (json: string): string =>
  json.replace(
    /[\u007F-\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const readHere = (texts: readonly string[]): Reading[] =>
  readAllYaml({ texts, limits: LIMITS }).map((outcome) =>
    'json' in outcome ? { json: ascii(outcome.json) } : { error: outcome.error },
  );

/** Pattern of texts that may be read differently, and the reason. */
type Reasons = readonly (readonly [pattern: RegExp, reason: string])[];

const REFUSED_BY_PYYAML_ALONE: Reasons = [
  [/^(?:Scanner|Parser|Reader)Error:/, 'syntax of YAML 1.2, read as YAML 1.2 says'],
  [/constructor for the tag '\S+,'/, 'a comma ends a tag in YAML 1.2'],
];
const REFUSED_HERE_ALONE: Reasons = [
  [/"__proto__" is not allowed/, 'would change the prototype of a copy'],
  [/^Unresolved tag: .*:(?:omap|pairs)\n/, 'JSON has no form for ordered maps'],
  [
    /finite|not compatible|nested deeper|:(?:set|binary)\n/,
    'values that a later one replaces are judged, too',
  ],
  [/leading empty lines must use/, 'YAML 1.1 forbids it, too'],
  [/^Missing closing/, 'YAML 1.1 forbids lines of less indentation in quotes, too'],
  [/^Block collections are not allowed within flow/, 'YAML 1.1 forbids `-` alone there, too'],
  [/^Implicit keys of flow[^]*[[,] *-,/, 'YAML 1.1 forbids `-` alone there, too'],
  [
    /^Flow (?:sequence|map) in block collection must be sufficiently/,
    'YAML 1.1 forbids lines of less indentation in brackets, too',
  ],
  [/^Comments must be separated/, 'YAML 1.1 wants a blank before them, too'],
  [/^Invalid anchor/, 'its name ends with a blank in YAML 1.1, too'],
  [/[*&][\w-]+[^\w\s-]/, 'a sign right after the name belongs to it in YAML 1.2'],
  [/[{[,] *\?\S/, '`?` before a letter is a part of the text in YAML 1.2'],
];
const READ_OTHERWISE: Reasons = [
  [
    /(?:<<|!!merge.*)"?: *(?:\n *- |\[)/,
    'releases of PyYAML merge lists of maps in different orders',
  ],
  [/[|>][^]*\n +(?:\r?\n|$)/, 'lines of blanks alone at the end of a block are empty'],
  [/[{[,] *\?\S/, '`?` before a letter is a part of the text in YAML 1.2'],
];

interface Difference {
  text: string;
  python: Reading;
  here: Reading;
}

/** Texts that both read, and the differences without a reason. */
function compare(texts: readonly string[]): { read: number; differences: Difference[] } {
  const parsed = readByPython(texts);
  const read = readHere(texts);
  expect(parsed).toHaveLength(texts.length);
  const differences = texts.flatMap((text, index): Difference[] => {
    const [python, here] = [parsed[index], read[index]];
    return python && here ? [{ text, python, here }].filter((one) => !isExpected(one)) : [];
  });
  return { read: read.filter((one) => 'json' in one).length, differences };
}

const isKnown = (reasons: Reasons, text: string): boolean =>
  reasons.some(([pattern]) => pattern.test(text));

function isExpected({ text, python, here }: Difference): boolean {
  if ('json' in python && 'json' in here) {
    return python.json === here.json || isKnown(READ_OTHERWISE, text);
  }
  if ('json' in python)
    return 'error' in here && isKnown(REFUSED_HERE_ALONE, `${here.error}\n${text}`);
  return 'error' in here || isKnown(REFUSED_BY_PYYAML_ALONE, python.error);
}

/** Plain scalars that some version of YAML takes for something else than a text. */
const WORDS = [
  ...['y', 'n', 'Y', 'N', 'yes', 'No', 'on', 'OFF', 'True', 'FALSE', 'tRUE', '~', 'null', 'Null'],
  ...['0', '-0', '+0', '7', '-12', '+12', '0123', '08012', '-012', '00', '09', '1__0', '_1', '0_7'],
  ...['0o14', '0x1F', '0XFF', '-0xff', '0b101', '-0b1', '0x_', '0b_', '0_', '12345678901234567890'],
  ...['1.0', '1.', '.5', '-.5', '+.5', '-1.5', '1e3', '1.e3', '1.5e3', '1.5e+3', '1.5E-7', '12e4'],
  ...['83e20108', '1_000.5', '1.0e+999', '123456789012345678.0', '0.00001', '1.0e+16', '.e+1', '.'],
  ...['.inf', '-.INF', '+.Inf', '.NaN', '.nan', 'inf', 'NaN', '1:30', '00:11:22', '190:20:30.15'],
  ...['1:60', '-1:30', '22:22', '2001-12-14', '2001-1-1', '2001-12-14 21:59:43.10 -5', '99-1-1'],
  ...[
    '2001-12-14t21:59:43Z',
    '=',
    '<<',
    'a',
    'foo bar',
    'é',
    '😀',
    'http://a/b:c',
    'a:b',
    '::',
    '?a',
  ],
  ...[
    '!!str 12',
    '!!int "12"',
    '!!int "0x1f"',
    '!!int x',
    '!!float 1',
    '!!float "1e3"',
    '!!bool no',
  ],
  ...[
    '!!bool x',
    '!!null x',
    '!!str',
    '!!map',
    '!!seq []',
    '!!set {a, b}',
    '!!omap [a: 1]',
    '! 12',
  ],
  ...[
    '! "12"',
    '!x y',
    '!vault x',
    '!!binary aGk=',
    '!!timestamp 2001-01-01',
    '!!merge x',
    '*x',
    '&x',
  ],
  ...[
    '"q"',
    '"a\\nb"',
    '"\\x41\\u00e9\\U0001F600"',
    "'it''s'",
    '"yes"',
    "'1'",
    '""',
    "''",
    '# c',
    'a #c',
  ],
  ...[
    'a#c',
    '"\\/\\e\\0\\N\\_\\L\\P"',
    '"a\n  b"',
    'a\n  b',
    "'a\n\n  b'",
    '"a\\\n  b"',
    '- a',
    '\t',
  ],
];

const word = fc.oneof(
  { arbitrary: fc.constantFrom(...WORDS), weight: 6 },
  {
    arbitrary: fc.stringMatching(/^[-+]?[0-9_]{1,5}(\.[0-9_]{0,3})?([eE][-+]?[0-9]{1,2})?$/),
    weight: 2,
  },
  { arbitrary: fc.stringMatching(/^[-+]?0[box]?[0-9a-f_]{1,6}$/), weight: 1 },
  { arbitrary: fc.stringMatching(/^[-+]?\d{1,2}(:\d{1,2}){1,2}(\.\d?)?$/), weight: 1 },
  {
    arbitrary: fc.stringMatching(/^\d{4}-\d\d?-\d\d?([Tt ]\d\d?:\d\d:\d\d(\.\d)?( ?Z|-5)?)?$/),
    weight: 1,
  },
  { arbitrary: fc.stringMatching(/^[-a-z0-9_.:+#,[\]{}&*!|>'"%@ ?~=<]{0,8}$/), weight: 1 },
);
const key = fc.oneof(
  { arbitrary: fc.stringMatching(/^[a-z][a-z0-9_]{0,3}$/), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      'a',
      'b',
      '<<',
      '"<<"',
      '443',
      '1',
      '1.0',
      'true',
      '"1"',
      '=',
      '? x',
    ),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom('[x]', '{x: 1}', '&k a', '*k', '!!str 1', '"a b"', '__proto__'),
    weight: 1,
  },
  { arbitrary: word, weight: 1 },
);
const indented = (text: string, by: number): string => text.replace(/^(?=.)/gm, ' '.repeat(by));
const literal = fc
  .tuple(
    fc.constantFrom('|', '>', '|-', '>-', '|+', '>+', '|2', '>1-'),
    fc.array(fc.stringMatching(/^ {0,2}[a-z0-9#:]{0,6}$/), { minLength: 1, maxLength: 4 }),
  )
  .map(([header, lines]) => `${header}\n${indented(lines.join('\n'), 2)}`);

/** A text with a leading line break is a block below its key. */
const { node } = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    { arbitrary: word, weight: 6 },
    { arbitrary: literal, weight: 1 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom('', '&x ', '&y ', '!!map '), blockOf(tie('node')))
        .map(([before, block]) => ` ${before}${block}`),
      weight: 2,
    },
    {
      arbitrary: fc
        .array(tie('node'), { minLength: 1, maxLength: 3 })
        .map(
          (items) =>
            `\n${items.map((item) => `- ${indented(item.trimStart(), 2).trimStart()}`).join('\n')}`,
        ),
      weight: 1,
    },
    {
      arbitrary: fc
        .array(fc.tuple(key, tie('node')), { maxLength: 3 })
        .map((pairs) => `{${pairs.map(([name, value]) => `${name}: ${value.trim()}`).join(', ')}}`),
      weight: 1,
    },
    {
      arbitrary: fc
        .array(tie('node'), { maxLength: 3 })
        .map((items) => `[${items.map((item) => item.trim()).join(', ')}]`),
      weight: 1,
    },
    {
      arbitrary: fc.constantFrom('*x', '*y', '[*x, *y]', '&x {a: 1, b: 2}', '&y {b: 3, c: 4}'),
      weight: 1,
    },
  ),
}));

function blockOf(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(key, value, fc.constantFrom(1, 2, 2, 4)), { minLength: 1, maxLength: 4 })
    .map((pairs) =>
      pairs
        .map(
          ([name, text, by]) =>
            `\n${name}:${/^ ?(?:[&!]\S+ )?\n/.test(text) ? indented(text, by) : ` ${text}`}`,
        )
        .join(''),
    );
}

const document = fc
  .tuple(
    fc.constantFrom('', '', '', '---', '# c', '%YAML 1.1\n---', '\uFEFF'),
    fc.constantFrom('', '', 'x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\n', 'k: &k a\n'),
    blockOf(node),
    fc.constantFrom('', '', '\n', '\n# c\n', '\n...\n', '\r\n'),
  )
  .map(([before, anchors, block, after]) => `${before}\n${anchors}${block.trimStart()}${after}`);

it('YAML is parsed as in PyYAML', () => {
  // Only deep tests generate other texts for each seed.
  const seed = IS_DEEP ? jest.getSeed() : 1;
  const texts = fc.sample(document, { numRuns: IS_DEEP ? 12_000 : 1500, seed });
  const { read, differences } = compare(texts);
  expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] });
  expect(read).toBeGreaterThan(texts.length / 5);
});

it('each word has the same type as in PyYAML, in any position', () => {
  const texts = WORDS.flatMap((one) => [
    `a: ${one}`,
    `a:\n- ${one}\n`,
    `{a: ${one}}`,
    `? ${one}\n: 1`,
    `a: {b: 1, ${one}: 2}`,
    `a: |\n  ${one}`,
    `a: '${one}'`,
    `a: !!str ${one}`,
    `a: !!int ${one}`,
    `a: !!float ${one}`,
  ]);
  expect(compare(texts).differences.slice(0, 5)).toEqual([]);
});
