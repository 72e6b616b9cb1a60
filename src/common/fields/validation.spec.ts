import fc from 'fast-check';
import { eventLoopTime } from '../../../test/support/event-loop.js';
import { Invalid } from '../errors/errors.js';
import { Bool, Char, Choices, DateTime, fieldsOf, Float, Integer, Json } from './field.js';
import { rangeOf } from './column-types.js';
import { typeName } from './fault-texts.js';
import { validate } from './validation.js';

class Sample {
  @Integer({ readOnly: true })
  id!: number;
  @Char({ max: 5, required: true })
  name!: string;
  @Integer({ min: 1, max: 9 })
  size!: number;
  @Bool({ default: true })
  enabled!: boolean;
  @Float()
  ratio!: number;
  @Choices([
    ['a', 'First'],
    ['b', 'Second'],
  ])
  kind!: string;
  @DateTime()
  until!: string | null;
  @Json({ default: {} })
  extra!: object;
}
const FIELDS = fieldsOf(Sample);
const read = (body: Record<string, unknown>): Record<string, unknown> =>
  validate(Sample, body, { partial: true });
const faultsOf = (body: Record<string, unknown>, partial = true): unknown => {
  try {
    validate(Sample, body, { partial });
  } catch (error) {
    if (error instanceof Invalid) return error.errors;
    throw error;
  }
  return {};
};

describe('validate', () => {
  it('sets the defaults of missing fields, except in a PATCH', () => {
    const values = validate(Sample, { name: 'x' });
    expect(values).toEqual({ name: 'x', enabled: true, kind: '', until: null, extra: {} });
    expect(read({})).toEqual({});
  });

  it('ignores unknown, read-only and inherited keys', () => {
    expect(read({ id: 5, other: 1, name: 'x' })).toEqual({ name: 'x' });
    expect(read(Object.create({ name: 'inherited' }) as Record<string, unknown>)).toEqual({});
  });

  it('converts scalars in the notations that clients use', () => {
    expect(read({ name: 12, size: ' 6 ', enabled: 'No', ratio: '0.5', extra: '{"a": 1}' })).toEqual(
      {
        name: '12',
        size: 6,
        enabled: false,
        ratio: 0.5,
        extra: { a: 1 },
      },
    );
    expect(read({ name: '  x ', enabled: null, kind: null, until: null })).toEqual({
      name: 'x',
      enabled: false,
      kind: '',
      until: null,
    });
  });

  it('reports all errors together', () => {
    expect(faultsOf({ size: 'x', kind: 'c', until: 'soon', extra: [] }, false)).toEqual({
      name: ['This field is required.'],
      size: ['A valid integer is required.'],
      kind: ['"c" is not a valid choice.'],
      until: [expect.stringContaining('Datetime has wrong format.')],
      extra: ['Invalid data. Expected a dictionary, but got list.'],
    });
  });

  it.each([
    [{ name: '' }, 'This field may not be blank.'],
    [{ name: null }, 'This field may not be null.'],
    [{ name: 'longer' }, 'Ensure this field has no more than 5 characters.'],
    [{ name: 'a\0' }, 'Null characters are not allowed.'],
    [{ name: [] }, 'Not a valid string.'],
    [{ size: 0 }, 'Ensure this value is greater than or equal to 1.'],
    [{ size: 10 }, 'Ensure this value is less than or equal to 9.'],
    [{ size: 1.5 }, 'A valid integer is required.'],
    [{ size: true }, 'A valid integer is required.'],
    [{ enabled: 'maybe' }, 'Must be a valid boolean.'],
    [{ ratio: 'x' }, 'A valid number is required.'],
    [{ extra: '{' }, 'Value must be valid JSON.'],
  ])('refuses %j', (body, text) => {
    expect(faultsOf(body)).toEqual({ [String(Object.keys(body)[0])]: [text] });
  });

  it('counts characters, not UTF-16 code units', () => {
    expect(read({ name: '😀'.repeat(5) })).toEqual({ name: '😀'.repeat(5) });
    expect(faultsOf({ name: '😀'.repeat(6) })).toHaveProperty('name');
  });

  it('refuses a very long text without counting its characters', async () => {
    const text = 'x'.repeat(9_000_000);
    const work = await eventLoopTime(() => Promise.resolve(faultsOf({ name: text })));
    expect(work).toBeLessThan(60);
  });

  it.each(['2026-02-30', '2026-13-01', '2026-01-01T25:00', '26-01-01'])(
    'refuses the invalid date %s',
    (until) => {
      expect(faultsOf({ until })).toHaveProperty('until');
    },
  );

  it('accepts its own output, and reads or refuses any other input', () => {
    fc.assert(
      fc.property(
        fc.record(
          Object.fromEntries(FIELDS.map(({ name }) => [name, fc.anything({ maxDepth: 2 })])),
          { requiredKeys: [] },
        ),
        (body) => {
          if (Object.keys(faultsOf(body) as object).length > 0) return;
          const values = read(body);
          expect(read(values)).toEqual(values);
        },
      ),
    );
  });

  it('limits integers to the range of the column', () => {
    class Wide {
      @Integer()
      count!: number;

      @Integer({ columnType: 'bigint' })
      wide!: number;
    }
    const { min, max } = rangeOf('integer');
    fc.assert(
      fc.property(fc.maxSafeInteger(), (count) => {
        const attempt = (name: string): unknown => validate(Wide, { [name]: String(count) });
        expect(attempt('wide')).toMatchObject({ wide: count });
        if (count >= min && count <= max) expect(attempt('count')).toMatchObject({ count });
        else expect(() => attempt('count')).toThrow(Invalid);
      }),
    );
    const beyond = (wide: number) => (): unknown => validate(Wide, { wide });
    expect(beyond(Number.MAX_SAFE_INTEGER + 1)).toThrow(Invalid);
    expect(beyond(Number.MIN_SAFE_INTEGER - 1)).toThrow(Invalid);
  });
});

it.each([
  [[], 'list'],
  [null, 'NoneType'],
  ['', 'str'],
  [true, 'bool'],
  [1, 'int'],
  [1.5, 'float'],
  [{}, 'dict'],
])('typeName of %j is %s', (value, name) => {
  expect(typeName(value)).toBe(name);
});
