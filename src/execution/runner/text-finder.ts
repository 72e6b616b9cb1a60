import { itemAt } from '../../common/invariants.js';
import { MIN_SECRET_LENGTH } from './secret-forms.js';
import { spansOf, type Span } from './mask.js';
import { append } from '../../common/records.js';

/**
 * Number of texts above which a single pattern for all texts is slower than a look-up by first characters.
 */
const MAX_IN_PATTERN = 200;
/** Maximum length of a text in a pattern: V8 compiles no alternative of more than 32,767 characters. */
const MAX_LENGTH_IN_PATTERN = 4096;

/**
 * Finds texts in another text, in ascending order; of several texts at one position, the longest.
 */
export type Finder = (input: string) => Span[];

export function finderOf(forms: ReadonlySet<string>): Finder {
  if (forms.size === 0) return () => [];
  const isLarge =
    forms.size > MAX_IN_PATTERN || [...forms].some(({ length }) => length > MAX_LENGTH_IN_PATTERN);
  return isLarge ? byStart([...forms]) : byPattern([...forms]);
}

function byPattern(forms: readonly string[]): Finder {
  const longestFirst = [...forms].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (input) => spansOf(pattern, input);
}

/**
 * Finds the same spans as `byPattern`. The cost hardly grows with the number of texts, even if many of
 * them have the same start: the longest text at a position is the last text that is not after the input
 * in alphabetical order, or a start of that text.
 */
function byStart(forms: readonly string[]): Finder {
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
  return (input) => {
    const spans: Span[] = [];
    for (let index = 0; index + MIN_SECRET_LENGTH <= input.length;) {
      const candidates = starts.get(input.slice(index, index + MIN_SECRET_LENGTH)) ?? [];
      const rest = candidates.length > 0 ? input.slice(index, index + longest) : '';
      let found = lastUpTo(rest, candidates);
      while (!rest.startsWith(found)) found = shorter.get(found) ?? '';
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
