import { cleanQuery } from './page-controls.js';

describe('cleanQuery', () => {
  it('does not change the query of other clients', () => {
    expect(cleanQuery({})).toBeNull();
    expect(cleanQuery({ search: 'x', name: ['a', 'b'] })).toBeNull();
  });

  it('removes empty controls', () => {
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
  ])('drops an invalid filter: %j', (query) => {
    expect(cleanQuery(query)).toBe('');
  });

  it('removes the chosen theme', () => {
    expect(cleanQuery({ _theme: 'dark', page: '2' })).toBe('?page=2');
  });
});
