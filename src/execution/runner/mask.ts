import { itemAt } from '../../common/invariants.js';

/** Replacement of a secret (docs/contract/runs.md#fields-of-runs). */
export const MASK = '**********';

/** Returns true for a text of stars only, as in the mask itself. */
export const isStars = (text: string): boolean => /^\*+$/.test(text);

/** Start and end of a part of a text. */
export interface Span {
  start: number;
  end: number;
}

/** @param pattern regular expression with the global flag */
export const spansOf = (pattern: RegExp, input: string): Span[] =>
  Array.from(input.matchAll(pattern), ({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));

/** Returns the spans in ascending order, with overlapping spans merged. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of [...spans].sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

/**
 * Replaces each span by the mask.
 *
 * @param spans merged spans in ascending order
 */
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
 * Masks spans line by line, so that the number of lines does not change.
 *
 * @param spans merged spans in the text of all pieces, joined by line breaks
 */
export function maskLines(pieces: readonly string[], spans: readonly Span[]): string[] {
  if (spans.length === 0) return [...pieces];
  let start = 0;
  let next = 0;
  const masked = (line: string): string => {
    const end = start + line.length;
    const parts: Span[] = [];
    for (let span = spans[next]; span && span.start < end; span = spans[next]) {
      const part = { start: Math.max(span.start - start, 0), end: Math.min(span.end, end) - start };
      if (part.end > part.start) parts.push(part);
      if (span.end > end) break;
      next += 1;
    }
    start = end + 1;
    return mask(line, parts);
  };
  return pieces.map((piece) => piece.split('\n').map(masked).join('\n'));
}

/**
 * Returns the number of pieces from the piece that contains a position to the end of the list, plus earlier
 * pieces that a span connects with them. Returns 0 if the position is the end of the text.
 *
 * @param spans merged spans in ascending order
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
    first = spanStart(Math.min(first, start), spans);
  }
  return count;
}

/** Returns the start of the span that contains the position, or the position itself. */
const spanStart = (position: number, spans: readonly Span[]): number =>
  spans.findLast(({ start, end }) => start < position && position < end)?.start ?? position;
