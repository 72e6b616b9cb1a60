import fc from 'fast-check';
import { parseRunnerEvent } from './event-reader.js';
import { MAX_STRING_BYTES } from './line-reducer.js';
import { LineSplitter, MAX_LINE_BYTES } from './line-splitter.js';

/** Feeds `bytes` in pieces whose lengths repeat `sizes`. */
function split(bytes: Buffer, sizes: readonly number[]): string[] {
  const splitter = new LineSplitter();
  const lines: string[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? bytes.length);
    lines.push(...splitter.push(bytes.subarray(start, end)));
    start = end;
  }
  return [...lines, ...splitter.end()];
}

describe('LineSplitter', () => {
  it('returns the same lines for any chunk sizes', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'ü', '😀', '\n', '\r', '"') }),
        sizes,
        (text, cuts) => {
          const expected = text.split('\n');
          if (expected.at(-1) === '') expected.pop();
          expect(split(Buffer.from(text), cuts)).toEqual(expected);
        },
      ),
    );
  });

  it('keeps a line of the largest normal size unchanged', () => {
    const text = JSON.stringify({ a: 'x'.repeat(MAX_LINE_BYTES - 8) });
    expect(text).toHaveLength(MAX_LINE_BYTES);
    expect(split(Buffer.from(`${text}\n`), [65536])).toEqual([text]);
  });

  it('truncates the texts of a longer line to valid JSON, for any chunk sizes', () => {
    const piece = fc.constantFrom('x', '\\', '"', '\n', '\u0001', 'ü', '😀', '\uD800');
    const size = fc.integer({ min: 1, max: 200_000 });
    const sizes = fc.array(size, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(piece, fc.integer({ min: 0, max: 7 }), sizes, (unit, shift, cuts) => {
        const stdout = 'y'.repeat(shift) + unit.repeat(MAX_LINE_BYTES / unit.length);
        const event = { uuid: 'u', counter: 7, stdout, event: 'verbose', last: 'z"\\' };
        const [line, ...others] = split(Buffer.from(`${JSON.stringify(event)}\nnext`), cuts);
        expect(others).toEqual(['next']);
        const parsed = parseRunnerEvent(line ?? '');
        expect(parsed).toMatchObject({ counter: 7, event: 'verbose', last: 'z"\\' });
        expect(String(parsed?.['stdout'])).toContain('[cut by the controller');
        expect(line?.length).toBeLessThan(MAX_STRING_BYTES + 1000);
      }),
      { numRuns: 25 },
    );
  });
});
