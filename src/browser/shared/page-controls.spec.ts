import { cleanQuery } from './page-controls.js';

describe('cleanQuery', () => {
  it('leaves the query of any other client alone', () => {
    expect(cleanQuery({})).toBeNull();
    expect(cleanQuery({ search: 'x', name: ['a', 'b'] })).toBeNull();
  });

  it('takes emptied controls away', () => {
    expect(cleanQuery({ search: '', page_size: '', order_by: 'name' })).toBe('?order_by=name');
    expect(cleanQuery({ search: '' })).toBe('');
  });

  it.each([
    ['icontains', 'name__icontains', 'x'],
    ['exact', 'name', 'x'],
    ['not__exact', 'not__name', 'x'],
    ['isnull', 'name__isnull', 'true'],
  ])('adds a filter (%s)', (lookup, key, value) => {
    const query = { _field: 'name', _lookup: lookup, _value: value, page: '3', a: '1' };
    expect(cleanQuery(query)).toBe(`?a=1&${key}=${value}`);
  });

  it.each([
    { _field: 'name', _lookup: 'bogus', _value: 'x' },
    { _field: 'a=b&c', _lookup: 'exact', _value: 'x' },
    { _field: 'name', _lookup: 'exact', _value: '' },
    { _field: '', _lookup: 'exact', _value: 'x' },
  ])('drops a filter that is none: %j', (query) => {
    expect(cleanQuery(query)).toBe('');
  });

  it('takes the choice of a theme away', () => {
    expect(cleanQuery({ _theme: 'dark', page: '2' })).toBe('?page=2');
  });
});
