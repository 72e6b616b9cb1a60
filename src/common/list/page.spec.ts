import { parsePage } from './page.js';

const LIMITS = { pageSize: 25, maxPageSize: 200 };

it.each([
  ['200', 200],
  ['201', 200],
  ['9999999999', 200],
  ['0', 25],
  ['ten', 25],
])('?page_size=%s returns at most %d rows', (size, most) => {
  expect(parsePage({ page_size: size }, LIMITS)).toMatchObject({ size: most });
});

describe('the limit of event lists', () => {
  it.each([
    ['7', 7],
    ['200', 200],
    ['201', 200],
    ['9999999999', 200],
    ['0', 25],
    ['-1', 25],
    ['', 25],
    ['ten', 25],
  ])('?limit=%s returns at most %d events', (limit, size) => {
    expect(parsePage({ limit }, LIMITS, true)).toEqual({ style: 'limited', limit: size });
  });

  it('has no effect on other lists', () => {
    expect(parsePage({ limit: '7' }, LIMITS)).toMatchObject({ style: 'numbered', size: 25 });
  });
});
