import { Transform } from 'class-transformer';
import { ArrayNotEmpty } from 'class-validator';
import { Invalid } from '../errors/errors.js';
import { FAULTS } from './fault-texts.js';
import { Choices, Integer, Json } from './field.js';
import { readBody } from './read-body.js';

class SampleBody {
  @Integer({ required: true, formerName: 'id' })
  number!: number;

  @Choices([['all', 'All']], { default: 'all' })
  which!: string;

  @ArrayNotEmpty({ message: FAULTS.emptyList })
  @Json({ default: ['a'] })
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.toReversed() : value))
  words!: string[];

  @Json({ usesDefault: false })
  extra!: object;

  @Integer({ readOnly: true })
  shown!: number;
}

const faultsOf = (body: Record<string, unknown>): unknown => {
  try {
    return readBody(SampleBody, body);
  } catch (error) {
    return error instanceof Invalid ? error.errors : error;
  }
};

describe('readBody', () => {
  it('returns an instance of the class with its defaults', () => {
    const body = readBody(SampleBody, { number: '6', shown: 1, other: 2 });
    expect(body).toBeInstanceOf(SampleBody);
    expect({ ...body }).toEqual({ number: 6, which: 'all', words: ['a'] });
  });

  it('accepts the former name of a field, and prefers the current name', () => {
    expect(readBody(SampleBody, { id: 1 }).number).toBe(1);
    expect(readBody(SampleBody, { id: 1, number: 2 }).number).toBe(2);
  });

  it('reports the first error of each field, in the order of the fields', () => {
    const faults = faultsOf({ extra: [], words: [], which: '', number: null });
    expect(JSON.stringify(faults)).toBe(
      JSON.stringify({
        number: ['This field may not be null.'],
        which: ['"" is not a valid choice.'],
        words: ['This list may not be empty.'],
        extra: ['Invalid data. Expected a dictionary, but got list.'],
      }),
    );
  });

  it('runs transformations of subclasses last, and their validators first', () => {
    expect(readBody(SampleBody, { number: 1, words: '["a", "b"]' }).words).toEqual(['b', 'a']);
    expect(faultsOf({ number: 1, words: {} })).toEqual({
      words: ['Expected a list of items but got type "dict".'],
    });
  });

  it.each(['$value', '$property', '$target', '$constraint1'])(
    'quotes %s in the error as it was sent',
    (which) => {
      expect(faultsOf({ number: 1, which })).toEqual({
        which: [`"${which}" is not a valid choice.`],
      });
    },
  );

  it('does not interpret the members of JSON documents', () => {
    const extra = JSON.parse('{"constructor": 1, "then": {"constructor": {}}, "length": 1e9}');
    expect(readBody(SampleBody, { number: 1, extra }).extra).toBe(extra);
    expect(readBody(SampleBody, { number: 1, constructor: 1 }).number).toBe(1);
  });
});
