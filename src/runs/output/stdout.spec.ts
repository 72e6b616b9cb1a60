import { htmlText, plainText } from './stdout.js';

const ESC = '\u001B';

it('the output removes colors, hidden markers and titles', () => {
  expect(plainText(`${ESC}[0;32mok${ESC}[0m\r\n${ESC}[KeyJ1\u001B]0;title\u0007`)).toBe('ok\neyJ1');
});

it('the output escapes markup and keeps colors', () => {
  expect(htmlText(`<b>${ESC}[1;31m"bad" & ${ESC}[0mplain`)).toBe(
    '&lt;b&gt;<span class="ansi-red ansi-bold">&quot;bad&quot; &amp; </span>plain',
  );
});

it('the output closes a color without a reset', () => {
  expect(htmlText(`${ESC}[96mx`)).toBe('<span class="ansi-bright-cyan">x</span>');
});

it.each([
  ['38;5;1', 'ansi-red'],
  ['38;5;12', 'ansi-bright-blue'],
  ['38;5;196', 'ansi-196'],
  ['38;5;22', 'ansi-22'],
  ['38;5;252', 'ansi-252'],
  ['38;2;255;128;0', 'ansi-208'],
  ['38;2;47;115;300', 'ansi-33'],
  ['48;5;1;32', 'ansi-green'],
  ['1;38;5;46', 'ansi-46 ansi-bold'],
  ['38;5;999;1', 'ansi-bold'],
])('the output shows the color %s as the nearest of 256 colors', (codes, classes) => {
  expect(htmlText(`\u001B[${codes}mtext`)).toBe(`<span class="${classes}">text</span>`);
});
