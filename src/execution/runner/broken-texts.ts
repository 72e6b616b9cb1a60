import { isStars, spansOf, type Span } from './mask.js';
import { finderOf, type Finder } from './text-finder.js';

/** Shorter texts occur by chance where one line ends and another begins. */
const MIN_WRAPPED_LENGTH = 6;

/** Forms as they are without white space: a line break takes the place of some of it. */
export function wrappedForms(forms: ReadonlySet<string>): Set<string> {
  const whole = [...forms].map((form) => form.replaceAll(/\s+/g, ''));
  return new Set(whole.filter((form) => form.length >= MIN_WRAPPED_LENGTH && !isStars(form)));
}

/** A colour, which Ansible begins and ends in each line. */
const COLOUR = /\u001B\[[0-9;]*m/g;
/** What is between the words of a message. */
const GAP = /(?:\s|\u001B\[[0-9;]*m)+/g;
/** A line break with what stands before and after it. */
const LINE_BREAK = /(\S)[^\S\n]*\n\s*(?=(\S))/g;

/** Finds what is broken over lines. */
export function brokenFinderOf(wrapped: ReadonlySet<string>): Finder {
  const find = finderOf(wrapped);
  // Hardly any line ends and the next begins as a secret goes on: only then is there more to do.
  const pairs = new Set<string>();
  for (const form of wrapped) {
    for (let at = 0; at + 2 <= form.length; at += 1) pairs.add(form.slice(at, at + 2));
  }
  return (input) => {
    const plain = input.replaceAll(COLOUR, '');
    for (const [, before = '', after = ''] of plain.matchAll(LINE_BREAK)) {
      if (pairs.has(before + after)) return brokenSpans(input, find);
    }
    return [];
  };
}

/** Finds in `input` what `find` finds in its words without their gaps, where there is a line break in it. */
function brokenSpans(input: string, find: Finder): Span[] {
  const spans = find(input.replaceAll(GAP, ''));
  if (spans.length === 0) return [];
  const placeOf = placesIn(input);
  return spans
    .map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end - 1) + 1 }))
    .filter(({ start, end }) => input.slice(start, end).includes('\n'));
}

/**
 * Finds where the longest beginning of a form stands that a text ends with, whatever gaps are in it; the
 * length of the text where there is none.
 */
export function beginningFinderOf(wrapped: ReadonlySet<string>): (input: string) => number {
  const alike = new Map<string, string[]>();
  let longest = 0;
  for (const form of wrapped) {
    const first = form.charAt(0);
    alike.set(first, [...(alike.get(first) ?? []), form]);
    longest = Math.max(longest, form.length);
  }
  return (input) => {
    const words = input.replaceAll(GAP, '');
    for (let at = Math.max(0, words.length - longest + 1); at < words.length; at += 1) {
      const rest = words.slice(at);
      const forms = alike.get(rest.charAt(0)) ?? [];
      if (forms.some((form) => form.length > rest.length && form.startsWith(rest))) {
        return placesIn(input)(at);
      }
    }
    return input.length;
  };
}

/** Tells where a character of the words without their gaps stands in a text; asked in ascending order. */
function placesIn(input: string): (position: number) => number {
  const words = wordsOf(input);
  let next = 0;
  let before = 0; // Characters of the words before the next.
  return (position) => {
    let word = words[next];
    while (word && before + word.end - word.start <= position) {
      before += word.end - word.start;
      next += 1;
      word = words[next];
    }
    return (word?.start ?? input.length) + position - before;
  };
}

function wordsOf(input: string): Span[] {
  const gaps = spansOf(GAP, input);
  const ends = [...gaps.map(({ start }) => start), input.length];
  return ends.map((end, index) => ({ start: gaps[index - 1]?.end ?? 0, end }));
}
