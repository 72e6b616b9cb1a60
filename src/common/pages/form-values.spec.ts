import { Bool, Char, fieldsOf, Integer, Json, References, Text } from '../fields/field.js';
import { BadRequest } from '../errors/errors.js';
import { resource } from '../resource/registry.js';
import { bodyOf } from './form-values.js';

class Schema {
  @Char({ required: true })
  name!: string;
  @Text()
  description!: string;
  @Bool()
  enabled!: boolean;
  @Integer({ nullable: true })
  limit!: number | null;
  @Integer({ default: 1 })
  forks!: number;
  @Json({ default: [] })
  tags!: unknown[];
  @References(() => resource('team'))
  teams!: number[];
  @References(() => resource('team'), { nullable: true })
  others!: number[] | null;
}

const fields = fieldsOf(Schema);
const form = (values: Record<string, unknown>) => bodyOf({ values, raw: null }, fields);
const raw = (text: string) => bodyOf({ values: {}, raw: text }, fields);

describe('bodyOf', () => {
  it('takes the token of the form away', () => {
    expect(form({ csrfmiddlewaretoken: 'x', name: 'a' })).toEqual({ name: 'a' });
  });

  it('reads a checkbox after its hidden false', () => {
    expect(form({ enabled: ['false', 'true'] })).toEqual({ enabled: 'true' });
    expect(form({ enabled: 'false' })).toEqual({ enabled: 'false' });
  });

  it('reads emptied texts as empty, numbers as null or not given', () => {
    expect(form({ description: '', limit: '', forks: '' })).toEqual({
      description: '',
      limit: null,
    });
  });

  it('keeps several values for a list', () => {
    expect(form({ tags: ['a', 'b'] })).toEqual({ tags: ['a', 'b'] });
  });

  it('reads what was chosen of several objects, after a hidden empty value', () => {
    expect(form({ teams: ['', '1', '2'], others: '' })).toEqual({ teams: [1, 2], others: null });
    expect(form({ teams: '', others: ['', '3'] })).toEqual({ teams: [], others: [3] });
  });

  it('reads a raw form as the JSON it holds', () => {
    expect(raw('{"name": 1}')).toEqual({ name: 1 });
    expect(raw(' ')).toEqual({});
  });

  it.each(['{', '[]', 'null', '"x"', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`])(
    'refuses a raw form that is no JSON object: %.12s',
    (text) => {
      expect(() => raw(text)).toThrow(BadRequest);
    },
  );
});
