import { attributes, html } from './html.js';

describe('html', () => {
  it('escapes every plain value and keeps HTML', () => {
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
  ])('makes of the address %j the link %j', (address, link) => {
    expect(html`<a class="x" href="${address}">x</a>`.text).toBe(
      `<a class="x" href="${link}">x</a>`,
    );
    expect(html`<form action="${address}"></form>`.text).toBe(`<form action="${link}"></form>`);
  });

  it('leaves nothing for null, undefined and false, and keeps zero', () => {
    expect(html`a${null}${undefined}${false}${0}b`.text).toBe('a0b');
  });

  it('writes attributes, alone for true and not at all for null and false', () => {
    expect(attributes({ a: '"', b: true, c: null, d: false, e: 0 }).text).toBe(
      ' a="&quot;" b e="0"',
    );
  });
});
