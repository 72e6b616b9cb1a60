import { itemAt } from '../../common/invariants.js';

/** What stands where a secret stood (docs/contract/runs.md#fields-of-runs). */
export const MASK = '**********';

/** Whether a text would be found in its own mask. */
export const isStars = (text: string): boolean => /^\*+$/.test(text);

/** Where a text begins and where it has ended. */
export interface Span {
  start: number;
  end: number;
}

/** @param pattern global */
export const spansOf = (pattern: RegExp, input: string): Span[] =>
  Array.from(input.matchAll(pattern), ({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));

/** Spans in their order, those that overlap as one. */
export function joined(spans: readonly Span[]): Span[] {
  const whole: Span[] = [];
  for (const { start, end } of [...spans].sort((left, right) => left.start - right.start)) {
    const last = whole.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else whole.push({ start, end });
  }
  return whole;
}

/** @param spans joined */
export function mask(input: string, spans: readonly Span[]): string {
  let output = '';
  let from = 0;
  for (const { start, end } of spans) {
    output += input.slice(from, start) + MASK;
    from = end;
  }
  return output + input.slice(from);
}

/**
 * Masks by lines, so that as many are left as there were.
 *
 * @param spans joined, in the pieces with a line break between each
 */
export function maskLines(pieces: readonly string[], spans: readonly Span[]): string[] {
  if (spans.length === 0) return [...pieces];
  let start = 0;
  let next = 0;
  const masked = (line: string): string => {
    const end = start + line.length;
    const own: Span[] = [];
    for (let span = spans[next]; span && span.start < end; span = spans[next]) {
      const part = { start: Math.max(span.start - start, 0), end: Math.min(span.end, end) - start };
      if (part.end > part.start) own.push(part);
      if (span.end > end) break;
      next += 1;
    }
    start = end + 1;
    return mask(line, own);
  };
  return pieces.map((piece) => piece.split('\n').map(masked).join('\n'));
}

/**
 * How many of the last pieces there are from that of a position on, with those before that a span holds together
 * with them. None where the position is their end.
 *
 * @param spans joined
 */
export function piecesFrom(
  position: number,
  pieces: readonly string[],
  spans: readonly Span[],
): number {
  let start = pieces.reduce((length, piece) => length + piece.length + 1, 0);
  if (position >= start - 1) return 0;
  let first = position;
  let count = 0;
  while (start > first && count < pieces.length) {
    count += 1;
    start -= itemAt(pieces, pieces.length - count).length + 1;
    first = wholeFrom(Math.min(first, start), spans);
  }
  return count;
}

/** A position, or where the span starts that goes over it. */
const wholeFrom = (position: number, spans: readonly Span[]): number =>
  spans.findLast(({ start, end }) => start < position && position < end)?.start ?? position;
