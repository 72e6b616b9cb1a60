import type { Response } from 'express';
import type { PlainRequest } from '../../common/http/request.js';
import { cleanQuery, pageControls } from './page-controls.js';

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

describe('pageControls', () => {
  const redirectOf = (path: string): unknown => {
    const redirect = jest.fn();
    const request = {
      method: 'GET',
      path,
      query: { search: '' },
      headers: { accept: 'text/html' },
    };
    pageControls(
      request as unknown as PlainRequest,
      { redirect } as unknown as Response,
      jest.fn(),
    );
    return redirect.mock.calls[0];
  };

  it('redirects to the page of the request', () => {
    expect(redirectOf('/api/v2/teams/')).toEqual([303, '/api/v2/teams/']);
  });

  it.each(['//evil.example/', '///evil.example/', '/\\evil.example/', '/\\/evil.example/'])(
    'does not redirect to another server: %s',
    (path) => {
      expect(redirectOf(path)).toEqual([303, '/evil.example/']);
    },
  );
});
