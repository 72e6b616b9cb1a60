import { attributes, html, prose } from './html.js';

describe('html', () => {
  it('escapes plain values and keeps HTML', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(html`<p title="${`"'`}">${inner}${['&', inner]}</p>`.text).toBe(
      '<p title="&quot;&#39;"><b>&lt;i&gt;</b>&amp;<b>&lt;i&gt;</b></p>',
    );
  });

  it.each([
    ['/api/v2/jobs/1/', '/api/v2/jobs/1/'],
    ['?page=2', '?page=2'],
    ['#form-post', '#form-post'],
    ['https://example.com/', 'https://example.com/'],
    ['javascript:alert(1)', '#'],
    [' javascript:alert(1)', '#'],
    ['JaVaScRiPt:alert(1)', '#'],
    ['data:text/html,x', '#'],
    ['//example.com/', '#'],
    ['/\\example.com/', '#'],
  ])('turns the address %j into the link %j', (address, link) => {
    expect(html`<a class="x" href="${address}">x</a>`.text).toBe(
      `<a class="x" href="${link}">x</a>`,
    );
    expect(html`<form action="${address}"></form>`.text).toBe(`<form action="${link}"></form>`);
  });

  it('writes nothing for null, undefined and false, and writes zero', () => {
    expect(html`a${null}${undefined}${false}${0}b`.text).toBe('a0b');
  });

  it('writes true attributes without a value, and omits null and false ones', () => {
    expect(attributes({ a: '"', b: true, c: null, d: false, e: 0 }).text).toBe(
      ' a="&quot;" b e="0"',
    );
  });

  it('writes the parts of a text in backticks as code', () => {
    expect(html`${prose('Send `a<b` or `c`.')}`.text).toBe(
      'Send <code>a&lt;b</code> or <code>c</code>.',
    );
  });
});
