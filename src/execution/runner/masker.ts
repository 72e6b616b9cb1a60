import { isRecord, mapTexts } from './clean-text.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';

/** What stands where a secret stood (docs/contract/runs.md#fields-of-runs). */
export const MASK = '**********';
/** Shorter texts occur by chance everywhere. */
const MIN_SECRET_LENGTH = 3;
/** A line of a longer secret must be this long to be masked alone, so that `-----` or `}` stay. */
const MIN_LINE_LENGTH = 8;
/** Shorter texts occur by chance where one line ends and another begins. */
const MIN_WRAPPED_LENGTH = 6;
/** Base64 pieces shorter than this match ordinary words. */
const MIN_BASE64_LENGTH = 6;

/** From this many texts on a pattern of them all is slower than a look at how each begins. */
const MOST_IN_PATTERN = 200;

/** Replaces known secrets. */
export interface Masker {
  text(text: string): string;
  /** Any JSON value: texts, keys and numbers, at any depth. */
  value(value: unknown): unknown;
  /** Output, names and data of an event; ids and times stay as they are. */
  event(row: EventRow): EventRow;
}

/**
 * Builds a masker for the secrets of one run. Each is found as it is, as written inside JSON (once or twice
 * quoted) and INI, as base64 at any alignment, line by line when it has several lines, and broken over lines by a
 * program that wraps its messages, as Ansible does with warnings: at a space, a hyphen or any place of a long word.
 * Secrets under 3 characters cannot be masked, and under 6 not where they are broken.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const forms = new Set(
    secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).flatMap(formsOf),
  );
  if (forms.size === 0) return passThrough;
  const find = finderOf(forms);
  const findBroken = brokenFinderOf(forms);
  const text = (input: string): string => mask(input, [...find(input), ...findBroken(input)]);
  const value = (input: unknown): unknown => maskNumbers(mapTexts(input, text), text);
  const event = (row: EventRow): EventRow => ({
    ...row,
    eventDisplay: text(row.eventDisplay),
    hostName: text(row.hostName),
    playbook: text(row.playbook),
    play: text(row.play),
    task: text(row.task),
    role: text(row.role),
    stdout: text(row.stdout),
    eventData: maskData(row, text, value),
  });
  return { text, value, event };
}

/** Where a text begins and where it has ended. */
interface Span {
  start: number;
  end: number;
}

/** Finds texts in another, in the order in which they stand there, of those that begin alike the longest. */
type Finder = (input: string) => Span[];

function finderOf(forms: ReadonlySet<string>): Finder {
  if (forms.size === 0) return () => [];
  const longestFirst = [...forms].sort((left, right) => right.length - left.length);
  return longestFirst.length > MOST_IN_PATTERN ? byStart(longestFirst) : byPattern(longestFirst);
}

function byPattern(longestFirst: readonly string[]): Finder {
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (input) =>
    Array.from(input.matchAll(pattern), ({ index, 0: found }) => ({
      start: index,
      end: index + found.length,
    }));
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

/** Masks each of the spans, and those that overlap as one. */
function mask(input: string, spans: Span[]): string {
  let output = '';
  let from = 0;
  for (const { start, end } of spans.sort((left, right) => left.start - right.start)) {
    if (start >= from) output += input.slice(from, start) + MASK;
    from = Math.max(from, end);
  }
  return output + input.slice(from);
}

/** What is left of texts that are wrapped: the break takes the place of a space. */
function wrappedForms(forms: ReadonlySet<string>): Set<string> {
  const whole = [...forms].map((form) => form.replaceAll(/\s+/g, ''));
  return new Set(whole.filter((form) => form.length >= MIN_WRAPPED_LENGTH && !/^\*+$/.test(form)));
}

/** A line break with what stands before and after it. */
const LINE_BREAK = /(\S)[^\S\n]*\n\s*(?=(\S))/g;

/** Finds what is broken over lines. */
function brokenFinderOf(forms: ReadonlySet<string>): Finder {
  const whole = wrappedForms(forms);
  const find = finderOf(whole);
  // Hardly any line ends and the next begins as a secret goes on: only then is there more to do.
  const pairs = new Set<string>();
  for (const form of whole) {
    for (let at = 0; at + 2 <= form.length; at += 1) pairs.add(form.slice(at, at + 2));
  }
  return (input) => {
    for (const [, before = '', after = ''] of input.matchAll(LINE_BREAK)) {
      if (pairs.has(before + after)) return brokenSpans(input, find);
    }
    return [];
  };
}

/** Finds in `input` what `find` finds in it without white space, where there is a line break in it. */
function brokenSpans(input: string, find: Finder): Span[] {
  const spans = find(input.replaceAll(/\s+/g, ''));
  if (spans.length === 0) return [];
  const words = [...input.matchAll(/\S+/g)];
  let next = 0;
  let before = 0; // Characters of the words before the next.
  const placeOf = (position: number): number => {
    let word = words[next];
    while (word !== undefined && before + word[0].length <= position) {
      before += word[0].length;
      next += 1;
      word = words[next];
    }
    return (word?.index ?? input.length) + position - before;
  };
  return spans
    .map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end - 1) + 1 }))
    .filter(({ start, end }) => input.slice(start, end).includes('\n'));
}

const passThrough: Masker = {
  text: (text) => text,
  value: (value) => value,
  event: (row) => row,
};

function maskData(
  { event, eventData }: EventRow,
  text: (value: string) => string,
  value: (input: unknown) => unknown,
): Record<string, unknown> {
  // The numbers of the final event are counts of tasks: a secret `100` must not take them away.
  const masked = event === 'playbook_on_stats' ? mapTexts(eventData, text) : value(eventData);
  return isRecord(masked) ? masked : {};
}

function maskNumbers(input: unknown, text: (value: string) => string): unknown {
  if (typeof input === 'number') return text(String(input)) === MASK ? MASK : input;
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map((item) => maskNumbers(item, text));
  return Object.fromEntries(
    Object.entries(input).map(([key, item]) => [key, maskNumbers(item, text)]),
  );
}

function formsOf(secret: string): string[] {
  const plain = [secret, ...linesOf(secret)];
  const quoted = plain.flatMap((text) => [
    jsonInner(text),
    jsonInner(jsonInner(text)),
    asciiJson(text),
    asciiJson(jsonInner(text)),
  ]);
  return (
    [...plain, ...quoted, ...otherSpellings(secret), ...base64Forms(secret)]
      // A secret of stars alone would be found in its own mask.
      .filter((form) => form.length >= MIN_SECRET_LENGTH && !/^\*+$/.test(form))
  );
}

/** With the line breaks of other systems, and as INI files write it. */
function otherSpellings(secret: string): string[] {
  return [secret.replaceAll('\n', '\r\n'), secret.replaceAll('%', '%%')];
}

function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.length < 2
    ? []
    : lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'));
}

function jsonInner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As Python's `json.dumps` writes it. */
function asciiJson(text: string): string {
  return jsonInner(text).replace(
    /[\u0080-\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A secret inside a longer encoded text (`user:secret`) starts at any of three positions. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [bytes.toString('base64'), bytes.toString('base64url')];
  for (const offset of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const stableBits = shifted.length * 8;
    const first = Math.ceil((offset * 8) / 6);
    const inner = shifted.toString('base64').slice(first, Math.floor(stableBits / 6));
    if (inner.length >= MIN_BASE64_LENGTH)
      forms.push(inner, inner.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
