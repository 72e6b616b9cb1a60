import { and, sql, type Sql } from '../../database/sql.js';
import { beginningOf, TextSample, TRIGRAM, trigramsOf } from './text-sample.js';

/** Of the rows that have some letters of a term, so many are supposed to have the next one too. */
const NEXT_LETTER = 0.3;
/** Texts of a sample that weigh as much as what is supposed. */
const TRUST = 10;
/** To ask a row for the term costs what so many entries of an index cost to read. */
const ROW_COST = 200;
/** Many rows have the first letter of a word, and an index passes over most of them. */
const BEGINNING = 0.5;
/** Where an index leaves more of the rows it helps little, and PostgreSQL knows best what to do. */
const MOST_LEFT = 0.1;
/** Of so many, the rarest of a term, some are chosen. */
const MOST_CONSIDERED = 24;

interface Trigram {
  /** Its first places in the term. */
  places: readonly number[];
  /** The texts of the sample that have it. */
  texts: ReadonlySet<number>;
  /** Entries of the index, to the rows of the table. */
  share: number;
}

/** Trigrams to ask an index for. */
interface Choice {
  trigrams: readonly Trigram[];
  /** The texts of the sample that have all of them. */
  texts: readonly number[];
  /** Entries of the index to read, to the rows of the table. */
  read: number;
  /** Rows that have all of them and are asked for the term, to those of the table. */
  left: number;
}

const costOf = ({ read, left }: Choice): number => read + ROW_COST * left;

function withTrigram(choice: Choice, trigram: Trigram): Choice {
  const distances = choice.trigrams.flatMap(({ places }) =>
    places.flatMap((place) => trigram.places.map((other) => Math.abs(place - other))),
  );
  const newLetters = Math.min(TRIGRAM, ...distances);
  const supposed = Math.max(trigram.share, NEXT_LETTER ** newLetters);
  const texts = choice.texts.filter((number) => trigram.texts.has(number));
  return {
    trigrams: [...choice.trigrams, trigram],
    texts,
    read: choice.read + trigram.share,
    left: (choice.left * (texts.length + supposed * TRUST)) / (choice.texts.length + TRUST),
  };
}

/** The rarest, and further ones as long as they spare more rows than they cost to read. */
function choiceOf(rarest: Trigram, others: readonly Trigram[]): Choice {
  const { texts, share } = rarest;
  let choice: Choice = { trigrams: [rarest], texts: [...texts], read: share, left: share };
  for (;;) {
    const { trigrams } = choice;
    const [next] = others
      .filter((trigram) => !trigrams.includes(trigram))
      .map((trigram) => withTrigram(choice, trigram))
      .toSorted((one, other) => costOf(one) - costOf(other));
    if (!next || costOf(next) >= costOf(choice)) return choice;
    choice = next;
  }
}

/**
 * The parts of a term by which an index finds it with the least work. Empty where nothing is known of the
 * column, most of its values have each of them, or nothing is left out by naming them.
 */
export function tellingParts(term: string, sample: TextSample): string[] {
  const { size } = sample;
  // A letter that is folded into two would shift what follows.
  if (size === 0 || term.toLowerCase().length !== term.length) return [];
  const all = [...trigramsOf(term)].map(([trigram, places]) => {
    const texts = sample.having(trigram);
    const beginning = trigram.startsWith(' ') ? sample.having(beginningOf(trigram)).size : 0;
    // There may be one more than was seen.
    return { places, texts, share: (texts.size + 1 + BEGINNING * beginning) / size };
  });
  const [rarest, ...others] = all
    .toSorted((one, other) => one.share - other.share)
    .slice(0, MOST_CONSIDERED);
  if (!rarest) return [];
  const { trigrams, left } = choiceOf(rarest, others);
  return left > MOST_LEFT || trigrams.length === all.length ? [] : partsOf(term, trigrams);
}

/** Trigrams that follow each other at once are one part. */
function partsOf(term: string, trigrams: readonly Trigram[]): string[] {
  const parts: { start: number; end: number }[] = [];
  const starts = trigrams.flatMap(({ places }) => places.slice(0, 1));
  for (const start of starts.toSorted((one, other) => one - other)) {
    const end = start + TRIGRAM;
    const last = parts.at(-1);
    if (last && last.end === end - 1) last.end = end;
    else parts.push({ start, end });
  }
  return parts.map(({ start, end }) => term.slice(start, end));
}

const patternOf = (term: string): string => `%${term.replace(/[\\%_]/g, '\\$&')}%`;

const NOTHING_KNOWN = new TextSample([]);

/**
 * A column holds a term, in whatever case.
 *
 * @param sample decides by which parts of the term an index on the column is asked
 */
export function holds(column: Sql, term: string, sample = NOTHING_KNOWN): Sql {
  const parts = tellingParts(term, sample);
  if (parts.length === 0) return sql`${column}::text ILIKE ${patternOf(term)}`;
  const telling = parts.map((part) => sql`${column} ILIKE ${patternOf(part)}`);
  // An expression has no index: it is asked of what was found by the parts.
  return and(...telling, sql`(${column} || '') ILIKE ${patternOf(term)}`);
}
