import { isStars, spansOf, type Span } from './mask.js';
import { finderOf, type Finder } from './text-finder.js';

/**
 * Minimum length of a form: shorter forms match by chance where one line ends and another begins.
 */
const MIN_WRAPPED_LENGTH = 6;

/**
 * Returns the forms of secrets without white space, which a line break can replace. Omits short forms and
 * forms of stars.
 */
export function wrappedForms(forms: ReadonlySet<string>): Set<string> {
  const compact = [...forms].map((form) => form.replaceAll(/\s+/g, ''));
  return new Set(compact.filter((form) => form.length >= MIN_WRAPPED_LENGTH && !isStars(form)));
}

/** A color escape sequence, which Ansible starts and ends in each line. */
const COLOR = /\u001B\[[0-9;]*m/g;
/** Space between the words of a message. */
const GAP = /(?:\s|\u001B\[[0-9;]*m)+/g;
/** A line break with the characters before and after it. */
const LINE_BREAK = /(\S)[^\S\n]*\n\s*(?=(\S))/g;

/** Returns a finder for secrets that are broken over several lines. */
export function brokenFinderOf(wrapped: ReadonlySet<string>): Finder {
  const find = finderOf(wrapped);
  // Fast path: the characters around a line break rarely continue a secret.
  const pairs = new Set<string>();
  for (const form of wrapped) {
    for (let from = 0; from + 2 <= form.length; from += 1) pairs.add(form.slice(from, from + 2));
  }
  return (input) => {
    const plain = input.replaceAll(COLOR, '');
    for (const [, before = '', after = ''] of plain.matchAll(LINE_BREAK)) {
      if (pairs.has(before + after)) return brokenSpans(input, find);
    }
    return [];
  };
}

/** Finds matches of `find` in `input` without its gaps, and returns the matches that span a line break. */
function brokenSpans(input: string, find: Finder): Span[] {
  const spans = find(input.replaceAll(GAP, ''));
  if (spans.length === 0) return [];
  const map = positionMapper(input);
  return spans
    .map(({ start, end }) => ({ start: map(start), end: map(end - 1) + 1 }))
    .filter(({ start, end }) => input.slice(start, end).includes('\n'));
}

/**
 * Returns a function that finds the longest prefix of a form at the end of a text, ignoring gaps.
 * The function returns the start of the prefix, or the length of the text if there is none.
 */
export function prefixFinderOf(wrapped: ReadonlySet<string>): (input: string) => number {
  const prefixLengths = [...wrapped].map(prefixLengthOf);
  return (input) => {
    const text = input.replaceAll(GAP, '');
    const length = prefixLengths.reduce((max, lengthIn) => Math.max(max, lengthIn(text)), 0);
    return length > 0 ? positionMapper(input)(text.length - length) : input.length;
  };
}

/**
 * Returns a function that returns the length of the longest prefix of a form at the end of a text. Its time is
 * linear for any form and text (algorithm of Knuth, Morris and Pratt).
 */
function prefixLengthOf(form: string): (text: string) => number {
  /** For each prefix of the form, the length of the longest shorter prefix at its end. */
  const shorter = new Uint32Array(form.length);
  const next = (length: number, code: number): number => {
    let matched = length;
    while (matched > 0 && form.charCodeAt(matched) !== code) matched = shorter[matched - 1] ?? 0;
    return form.charCodeAt(matched) === code ? matched + 1 : 0;
  };
  for (let index = 1; index < form.length; index += 1) {
    shorter[index] = next(shorter[index - 1] ?? 0, form.charCodeAt(index));
  }
  return (text) => {
    let length = 0;
    for (let index = Math.max(0, text.length - form.length + 1); index < text.length; index += 1) {
      length = next(length, text.charCodeAt(index));
    }
    return length;
  };
}

/**
 * Returns a function that maps a position in the text without gaps to a position in the text.
 * Positions must be requested in ascending order.
 */
function positionMapper(input: string): (position: number) => number {
  const words = wordsOf(input);
  let next = 0;
  let count = 0; // Number of characters of the words before the next word.
  return (position) => {
    let word = words[next];
    while (word && count + word.end - word.start <= position) {
      count += word.end - word.start;
      next += 1;
      word = words[next];
    }
    return (word?.start ?? input.length) + position - count;
  };
}

function wordsOf(input: string): Span[] {
  const gaps = spansOf(GAP, input);
  const ends = [...gaps.map(({ start }) => start), input.length];
  return ends.map((end, index) => ({ start: gaps[index - 1]?.end ?? 0, end }));
}
