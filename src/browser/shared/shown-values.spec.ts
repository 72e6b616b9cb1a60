import { ExactNumber, parseExact } from '../../common/exact-json.js';
import { Char, fieldsOf, Text } from '../../common/fields/field.js';
import { changedValues, shownValues } from './shown-values.js';

class Schema {
  @Char()
  name!: string;
  @Text()
  value!: unknown;
}

const sentAfter = (shown: unknown, sent: unknown): boolean =>
  'value' in changedValues({ value: sent }, shownValues({ value: shown }, fieldsOf(Schema)));

describe('changedValues', () => {
  it.each([
    ['a text', 'web', 'web'],
    ['a number', 5, '5'],
    ['an exact number', new ExactNumber('1.0'), '1.0'],
    ['a box', false, 'false'],
    ['an empty value', null, null],
    ['an empty text', '', ''],
    ['line ends', 'a\r\nb', 'a\nb'],
    ['a document', parseExact('{"b": 1.0, "a": [null]}'), parseExact('{"b":1.0,"a":[null]}')],
    ['a list', [3, 4], [3, 4]],
  ])('omits %s as shown', (_name, shown, sent) => {
    expect(sentAfter(shown, sent)).toBe(false);
  });

  it.each([
    ['a text', 'web', 'Web'],
    ['a number', 5, '50'],
    ['a box', false, 'true'],
    ['an emptied value', 'web', null],
    ['the order of a document', parseExact('{"b": 1, "a": 2}'), parseExact('{"a": 2, "b": 1}')],
    ['a selection', [3, 4], [3]],
  ])('keeps a change of %s', (_name, shown, sent) => {
    expect(sentAfter(shown, sent)).toBe(true);
  });

  it('keeps values that were not shown', () => {
    expect(changedValues({ name: 'web', value: 'x' }, ['value=other'])).toEqual({
      name: 'web',
      value: 'x',
    });
    expect(changedValues({ name: 'web' })).toEqual({ name: 'web' });
  });
});
