import fc from 'fast-check';
import { normalizeInputs, validateTypeDefinition } from './input-schema.js';

const FIELD = { id: 'token', label: 'Token', type: 'string', secret: true };
const draft = (inputs: unknown, injectors: unknown = {}, kind: unknown = 'cloud') =>
  validateTypeDefinition({ kind, inputs, injectors });
const inputsErrors = (...fields: unknown[]) => draft({ fields })['inputs'];
const injectorErrors = (injectors: unknown, fields: unknown[] = [FIELD]) =>
  draft({ fields }, injectors)['injectors'];

describe('the kinds of custom types', () => {
  it.each(['cloud', 'net'])('include %s', (kind) => {
    expect(draft({}, {}, kind)).toEqual({});
  });

  it.each([
    ['ssh', "Must be 'cloud' or 'net', not ssh"],
    ['token', "Must be 'cloud' or 'net', not token"],
    ['weird', '"weird" is not a valid choice.'],
    ['constructor', '"constructor" is not a valid choice.'],
    [5, '5 is not a valid choice.'],
    [null, 'null is not a valid choice.'],
  ])('do not include %p', (kind, message) => {
    expect(draft({}, {}, kind)).toEqual({ kind: [message] });
  });
});

describe('the inputs of a type', () => {
  it('accept everything in the contract', () => {
    const fields = [
      {
        ...FIELD,
        multiline: true,
        ask_at_runtime: true,
        help_text: 'h',
        format: 'ssh_private_key',
      },
      { id: 'region', label: 'Region', choices: ['eu', 'us'], default: 'eu' },
      { id: 'verify', label: 'Verify', type: 'boolean', default: false },
    ];
    const inputs = { fields, required: ['token'], dependencies: { token: ['region'] } };
    expect(draft(inputs)).toEqual({});
    expect(normalizeInputs(inputs)).toMatchObject({
      fields: [{}, { id: 'region', type: 'string' }, {}],
      required: ['token'],
    });
    expect(normalizeInputs({})).toEqual({});
  });

  it.each<[string, unknown, string]>([
    ['a duplicate id', [FIELD, FIELD], 'token defined twice'],
    ['the reserved id', [{ ...FIELD, id: 'tower' }], '"tower" is a reserved field name'],
    ['a prototype id', [{ ...FIELD, id: '__proto__' }], '"__proto__" is a reserved field name'],
    ['a constant as id', [{ ...FIELD, id: 'none' }], '"none" is a reserved field name'],
    ['an id with a space', [{ ...FIELD, id: 'a b' }], "'a b' is not a valid identifier."],
    ['an id with a digit first', [{ ...FIELD, id: '1a' }], "'1a' is not a valid identifier."],
    ['no label', [{ id: 'token' }], "fields[0]: 'label' is a required property"],
    ['no id', [{ label: 'x' }], "fields[0]: 'id' is a required property"],
    [
      'an unknown key',
      [{ ...FIELD, color: 'red' }],
      "Additional properties are not allowed ('color' was unexpected)",
    ],
    ['an unknown type', [{ ...FIELD, type: 'number' }], "fields[0]: 'type' is not valid."],
    ['an unknown format', [{ ...FIELD, format: 'x509' }], "fields[0]: 'format' is not valid."],
    ['empty choices', [{ ...FIELD, choices: [] }], "fields[0]: 'choices' is not valid."],
    ['repeated choices', [{ ...FIELD, choices: ['a', 'a'] }], "fields[0]: 'choices' is not valid."],
    [
      'a secret boolean',
      [{ ...FIELD, type: 'boolean' }],
      'secret not allowed for boolean type (token)',
    ],
    [
      'a default of another type',
      [{ ...FIELD, default: true }],
      'the default of token is not a string',
    ],
    [
      'a default beside the choices',
      [{ ...FIELD, choices: ['a'], default: 'b' }],
      'the default of token is not one of its choices',
    ],
    ['a field that is not an object', ['x'], 'fields[0] must be an object.'],
    ['fields that are not a list', {}, "'fields' must be a list."],
    ['a NUL in a label', [{ ...FIELD, label: 'a\0' }], "fields[0]: 'label' is not valid."],
    [
      'too many fields',
      Array.from({ length: 101 }, () => FIELD),
      "'fields' may not have more than 100 entries.",
    ],
  ])('refuse %s', (_name, fields, message) => {
    expect(draft({ fields })).toEqual({ inputs: [message] });
  });

  it('report several errors together', () => {
    expect(inputsErrors({ ...FIELD, id: 'a b' }, { label: 5 })).toEqual([
      "'a b' is not a valid identifier.",
      "fields[1]: 'id' is a required property",
      "fields[1]: 'label' is not valid.",
    ]);
  });

  it.each<[unknown, string]>([
    [{ required: ['nothing'] }, "'required' names an undefined field (nothing)"],
    [{ required: 'token' }, "'required' must be a list of field ids."],
    [{ dependencies: { token: ['nothing'] } }, "'dependencies' names an undefined field (nothing)"],
    [
      { dependencies: { token: 'token' } },
      "'dependencies' must map field ids to lists of field ids.",
    ],
    [{ metadata: [] }, "Additional properties are not allowed ('metadata' was unexpected)"],
  ])('refuse %j', (extra, message) => {
    expect(draft({ fields: [FIELD], ...(extra as object) })).toEqual({ inputs: [message] });
  });

  it.each([[null], [[]], ['x'], [5]])('must be an object, not %j', (inputs) => {
    expect(draft(inputs)).toEqual({ inputs: ['Must be an object.'] });
  });
});

describe('the injectors of a type', () => {
  it('accept environment, variables and one or several files', () => {
    const templates = {
      env: { MY_TOKEN: '{{ token }}', A: '{{ tower.filename }}' },
      extra_vars: { my_token: '{{token}}' },
    };
    expect(
      draft({ fields: [FIELD] }, { ...templates, file: { template: '[x]\ntoken={{ token }}' } }),
    ).toEqual({});
    expect(
      draft(
        { fields: [FIELD] },
        {
          file: { 'template.cert': 'a', 'template.key': '{{ token }}' },
          env: { CERT: '{{ tower.filename.cert }}', KEY: '{{ tower.filename.key }}' },
        },
      ),
    ).toEqual({});
  });

  it.each<[string, unknown, string]>([
    [
      'an undeclared input',
      { env: { A: '{{ nothing }}' } },
      "A uses an undefined field ('nothing' is undefined)",
    ],
    [
      'an undeclared input in an expression',
      { extra_vars: { a: "{{ 'x' ~ nothing }}" } },
      "a uses an undefined field ('nothing' is undefined)",
    ],
    [
      'a file path without a file',
      { env: { A: '{{ tower.filename }}' } },
      "A uses an undefined field (attribute 'filename' is undefined)",
    ],
    [
      'an unknown file',
      { file: { 'template.a': 'x' }, env: { A: '{{ tower.filename.b }}' } },
      "A uses an undefined field (attribute 'b' is undefined)",
    ],
    [
      'one file beside named ones',
      { file: { template: 'x', 'template.a': 'y' } },
      'Must use multi-file syntax when injecting multiple files',
    ],
    [
      'an Ansible variable',
      { env: { ANSIBLE_CONFIG: 'x' } },
      'Environment variable ANSIBLE_CONFIG may affect Ansible configuration so its use is not allowed in credentials.',
    ],
    [
      'the search path',
      { env: { PATH: 'x' } },
      'Environment variable PATH is not allowed to be used in credentials.',
    ],
    [
      'a preloaded library',
      { env: { LD_PRELOAD: 'x' } },
      'Environment variable LD_PRELOAD is not allowed to be used in credentials.',
    ],
    ['an odd environment name', { env: { 'A-B': 'x' } }, "'A-B' is not a valid name in 'env'."],
    [
      'an odd file name',
      { file: { 'template.a/b': 'x' } },
      "'template.a/b' is not a valid name in 'file'.",
    ],
    [
      'a prototype name',
      { extra_vars: JSON.parse('{"__proto__": "x"}') },
      "'__proto__' is not a valid name in 'extra_vars'.",
    ],
    [
      'an unknown part',
      { argv: {} },
      "Additional properties are not allowed ('argv' was unexpected)",
    ],
    ['a part that is not an object', { env: [] }, "'env' must be an object."],
    ['a template that is not a text', { env: { A: 5 } }, "'A' in 'env' must be a string."],
    ['no object', [], 'Must be an object.'],
  ])('refuse %s', (_name, injectors, message) => {
    expect(injectorErrors(injectors)).toEqual([message]);
  });

  it.each(['{{ token', '{% if token %}', '{% include "x" %}', '{{ token | }}'])(
    'refuse the broken template %j',
    (template) => {
      expect(injectorErrors({ env: { A: template } })?.[0]).toMatch(
        /^Syntax error rendering template for A inside of env \(/,
      );
    },
  );

  it.each([
    '{{ range(1000000000) }}',
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    `{% set t = 'xxxxxxxxxx' %}${'{% set t = t ~ t %}'.repeat(40)}{{ t }}`,
    'x'.repeat(4_097),
    "{{ '\\x00' }}",
    '{{ token.constructor }}',
    "{{ token['__proto__'] }}",
  ])('refuse the harmful template %j', (template) => {
    const startedAt = process.cpuUsage();
    expect(injectorErrors({ env: { A: template } })).toHaveLength(1);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });

  it('are not checked while the inputs are invalid', () => {
    expect(Object.keys(draft({ fields: 5 }, { argv: {} }))).toEqual(['inputs']);
  });

  it('never throw, for any input', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (kind, inputs, injectors) => {
        expect(typeof validateTypeDefinition({ kind, inputs, injectors })).toBe('object');
        expect(
          typeof draft({ fields: [inputs, FIELD] }, { env: { A: JSON.stringify(injectors) } }),
        ).toBe('object');
      }),
    );
  });
});
