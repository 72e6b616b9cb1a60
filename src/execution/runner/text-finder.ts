import { itemAt } from '../../common/invariants.js';
import { MIN_SECRET_LENGTH } from './secret-forms.js';
import type { Span } from './mask.js';
import { append } from '../../common/records.js';

/** Number of starts above which a pattern for all of them is slower than a look-up at each position. */
const MAX_IN_PATTERN = 200;

/**
 * Finds texts in another text, in ascending order; of several texts at one position, the longest.
 */
export type Finder = (input: string) => Span[];

/**
 * Returns a finder. The cost hardly grows with the number of texts, even if many of them have the same start: the
 * longest text at a position is the last text that is not after the input in alphabetical order, or a start of
 * that text. The texts themselves are not in a pattern, whose time can grow with the product of the lengths of
 * text and input, and V8 compiles no alternative of more than 32,767 characters.
 */
export function finderOf(forms: ReadonlySet<string>): Finder {
  if (forms.size === 0) return () => [];
  const starts = new Map<string, string[]>();
  /** For each form, the longest other form that it starts with. */
  const shorter = new Map<string, string>();
  const nested: string[] = [];
  let longest = 0;
  for (const form of [...forms].sort()) {
    longest = Math.max(longest, form.length);
    while (!form.startsWith(nested.at(-1) ?? '')) nested.pop();
    shorter.set(form, nested.at(-1) ?? '');
    nested.push(form);
    append(starts, form.slice(0, MIN_SECRET_LENGTH), form);
  }
  const start =
    starts.size > MAX_IN_PATTERN
      ? null
      : new RegExp([...starts.keys()].map(escapePattern).join('|'), 'g');
  /** Returns a position at which a text can start, from `index` on. */
  const nextStart = (input: string, index: number): number => {
    if (start === null) return index;
    start.lastIndex = index;
    return start.exec(input)?.index ?? input.length;
  };
  return (input) => {
    const spans: Span[] = [];
    for (
      let index = nextStart(input, 0);
      index + MIN_SECRET_LENGTH <= input.length;
      index = nextStart(input, index)
    ) {
      const candidates = starts.get(input.slice(index, index + MIN_SECRET_LENGTH)) ?? [];
      const rest = candidates.length > 0 ? input.slice(index, index + longest) : '';
      let found = lastUpTo(rest, candidates);
      while (rest.slice(0, found.length) !== found) found = shorter.get(found) ?? '';
      if (found !== '') spans.push({ start: index, end: index + found.length });
      index += found.length || 1;
    }
    return spans;
  };
}

/** Returns the last of the sorted texts that is not after `text`; empty if there is none. */
function lastUpTo(text: string, sorted: readonly string[]): string {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (itemAt(sorted, middle) <= text) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1] ?? '';
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
