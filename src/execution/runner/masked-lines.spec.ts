import { MaskedLines } from './masked-lines.js';
import { MASK } from './mask.js';
import { createMasker } from './masker.js';

let emitted: string[];
let lines: MaskedLines;
beforeEach(() => {
  emitted = [];
  lines = new MaskedLines(createMasker(['hunter2-hunter2']), (text) => emitted.push(text));
});

it('MaskedLines emits complete lines for any chunk sizes', () => {
  for (const text of ['a', 'b\nc', '\n', '\n', 'd\ne']) lines.add(text);
  expect(emitted).toEqual(['ab\n', 'c\n', 'd\n']);
  lines.end();
  expect(emitted).toEqual(['ab\n', 'c\n', 'd\n', 'e\n']);
  lines.end();
  expect(emitted).toHaveLength(4);
});

it('MaskedLines masks a secret within one line and across several, for any chunk sizes', () => {
  for (const sign of 'a hunter2-hunter2\nb hunter2-\r\n  hunter2 c\nhunter2-\n') lines.add(sign);
  expect(emitted).toEqual([`a ${MASK}\n`, `b ${MASK}\n${MASK} c\n`]);
  lines.end();
  expect(emitted.at(-1)).toBe('hunter2-\n');
});

it('MaskedLines does not hold lines back indefinitely', () => {
  lines.add('hunter2-\n');
  expect(emitted).toEqual([]);
  lines.add('\n'.repeat(1000));
  expect(emitted).toEqual([`hunter2-\n${'\n'.repeat(1000)}`]);
});

it('MaskedLines breaks an endless line, and masks a secret at the break', () => {
  lines.add(`${'x'.repeat(65_530)}hunter2-hunter2`);
  lines.add('y'.repeat(200_000));
  lines.end();
  const pieces = emitted.join('').split('\n');
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(131_072);
  expect(pieces[0]).toBe(`${'x'.repeat(65_530)}${MASK}`);
  expect(emitted.join('')).not.toMatch(/hunter|2-hunter2/);
});
