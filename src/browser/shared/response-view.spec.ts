import type { Response } from 'express';
import type { PageContext } from './page-context.js';
import { responseView } from './response-view.js';

const context = {
  method: 'GET',
  path: '/api/v2/inventories/7/script/',
  query: { hostvars: '1' },
  actor: null,
  origin: 'http://localhost',
} as unknown as PageContext;
const response = { getHeaderNames: () => [], getHeader: () => undefined } as unknown as Response;

const shown = (body: unknown): string =>
  responseView(
    context,
    response,
    { status: 200, body },
    {
      open: true,
      isPage: () => true,
      object: null,
    },
  ).text;
const hosts = (count: number): Record<string, object> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`host-${index}`, { a: index }]));

describe('responseView', () => {
  it('shows the JSON of a response', () => {
    const text = shown({ _meta: { hostvars: hosts(100) } });
    expect(text).toContain('host-99');
    expect(text).not.toContain('too long');
  });

  it.each([
    ['a document', { _meta: { hostvars: hosts(50_000) } }],
    ['rows', { results: Array.from({ length: 26 }, () => hosts(2000)) }],
  ])('links %s that is too long for a page', (_name, body) => {
    const text = shown(body);
    expect(text).toContain('too long for a page');
    expect(text).toContain('href="/api/v2/inventories/7/script/?hostvars=1&amp;format=json"');
    expect(text.length).toBeLessThan(5000);
  });
});
