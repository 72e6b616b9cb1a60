import { parseExact } from '../../common/exact-json.js';
import { jsonView, linkOf } from './json-view.js';

const shown = (value: unknown): string => jsonView(value, 'JSON').text;

/** Returns the text of a page without its tags. */
const textOf = (page: string): string =>
  page
    .replace(/<[^>]*>/g, '')
    // The parser drops a line break that follows the tag.
    .replace(/^\n/, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('jsonView', () => {
  it('shows exactly the indented JSON', () => {
    const value = {
      text: `</pre><script>"'&`,
      list: [1, null, true, { deep: [] }],
      '<key>': {},
      url: '/api/v2/teams/?a=1&b=2',
    };
    expect(textOf(shown(value))).toBe(JSON.stringify(value, null, 2));
  });

  it('shows numbers and names as they were sent', () => {
    const sent = '{\n  "b": 1.0,\n  "443": [\n    12345678901234567890\n  ]\n}';
    expect(textOf(shown(parseExact(sent)))).toBe(sent);
  });

  it('creates no elements from HTML in the data', () => {
    expect(shown({ '<img src=x>': '<script>alert(1)</script>' })).not.toMatch(/<(img|script)/);
  });
});

describe('linkOf', () => {
  it.each([
    ['/api/v2/teams/1/', '/api/v2/teams/1/'],
    ['https://example.org/a?b=c', 'https://example.org/a?b=c'],
    ['javascript:alert(1)', null],
    ['javascript://example.org/%0aalert(1)', null],
    ['//example.org/', null],
    ['/api/ with blanks', null],
    ['see https://example.org/', null],
    ['data:text/html,x', null],
    ['http://', null],
  ])('%s', (text, link) => {
    expect(linkOf(text)).toBe(link);
  });
});
