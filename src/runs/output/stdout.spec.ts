import { htmlText, plainText } from './stdout.js';

const ESC = '\u001B';

it('takes colours, hidden markers and titles off', () => {
  expect(plainText(`${ESC}[0;32mok${ESC}[0m\r\n${ESC}[KeyJ1\u001B]0;title\u0007`)).toBe('ok\neyJ1');
});

it('escapes markup and keeps colours', () => {
  expect(htmlText(`<b>${ESC}[1;31m"bad" & ${ESC}[0mplain`)).toBe(
    '&lt;b&gt;<span class="ansi-red ansi-bold">&quot;bad&quot; &amp; </span>plain',
  );
});

it('ends a colour without a reset', () => {
  expect(htmlText(`${ESC}[96mx`)).toBe('<span class="ansi-bright-cyan">x</span>');
});
