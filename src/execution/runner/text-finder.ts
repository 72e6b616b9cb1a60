import { MIN_SECRET_LENGTH } from './secret-forms.js';
import { spansOf, type Span } from './mask.js';

/**
 * Number of texts above which a single pattern for all texts is slower than a look-up by first characters.
 */
const MAX_IN_PATTERN = 200;

/**
 * Finds texts in another text, in ascending order; of several texts at one position, the longest.
 */
export type Finder = (input: string) => Span[];

export function finderOf(forms: ReadonlySet<string>): Finder {
  if (forms.size === 0) return () => [];
  const longestFirst = [...forms].sort((left, right) => right.length - left.length);
  return longestFirst.length > MAX_IN_PATTERN ? byStart(longestFirst) : byPattern(longestFirst);
}

function byPattern(longestFirst: readonly string[]): Finder {
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (input) => spansOf(pattern, input);
}

/**
 * Finds the same spans as `byPattern`. The cost hardly grows with the number of texts, because few
 * of them have the same first characters.
 */
function byStart(longestFirst: readonly string[]): Finder {
  const starts = new Map<string, string[]>();
  for (const form of longestFirst) {
    const start = form.slice(0, MIN_SECRET_LENGTH);
    const sameStart = starts.get(start);
    if (sameStart) sameStart.push(form);
    else starts.set(start, [form]);
  }
  return (input) => {
    const spans: Span[] = [];
    for (let index = 0; index + MIN_SECRET_LENGTH <= input.length;) {
      const candidates = starts.get(input.slice(index, index + MIN_SECRET_LENGTH));
      const found = candidates?.find((form) => input.startsWith(form, index));
      if (found !== undefined) spans.push({ start: index, end: index + found.length });
      index += found?.length ?? 1;
    }
    return spans;
  };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
