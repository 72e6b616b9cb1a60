import { MIN_SECRET_LENGTH } from './secret-forms.js';
import { spansOf, type Span } from './mask.js';

/** From this many texts on a pattern of them all is slower than a look at how each begins. */
const MOST_IN_PATTERN = 200;

/** Finds texts in another, in the order in which they stand there, of those that begin alike the longest. */
export type Finder = (input: string) => Span[];

export function finderOf(forms: ReadonlySet<string>): Finder {
  if (forms.size === 0) return () => [];
  const longestFirst = [...forms].sort((left, right) => right.length - left.length);
  return longestFirst.length > MOST_IN_PATTERN ? byStart(longestFirst) : byPattern(longestFirst);
}

function byPattern(longestFirst: readonly string[]): Finder {
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (input) => spansOf(pattern, input);
}

/** As `byPattern`, at a cost that hardly grows with the number of texts: few begin alike. */
function byStart(longestFirst: readonly string[]): Finder {
  const starts = new Map<string, string[]>();
  for (const form of longestFirst) {
    const start = form.slice(0, MIN_SECRET_LENGTH);
    const alike = starts.get(start);
    if (alike) alike.push(form);
    else starts.set(start, [form]);
  }
  return (input) => {
    const spans: Span[] = [];
    for (let at = 0; at + MIN_SECRET_LENGTH <= input.length;) {
      const candidates = starts.get(input.slice(at, at + MIN_SECRET_LENGTH));
      const found = candidates?.find((form) => input.startsWith(form, at));
      if (found !== undefined) spans.push({ start: at, end: at + found.length });
      at += found?.length ?? 1;
    }
    return spans;
  };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
