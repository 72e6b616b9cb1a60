import { join, sql, type Sql } from '../../database/sql.js';

/** Rows that are looked at to learn what the texts of a table have. */
const ROWS = 1000;
/** Of fewer nothing is learnt. */
const ENOUGH = 20;
/** Characters of each text that are looked at. */
const LENGTH = 200;
/** Characters that an index of trigrams has together. */
export const TRIGRAM = 3;
/** Places of a trigram in a text that are kept: a text may be one trigram a thousand times. */
const MOST_PLACES = 4;
const WORD = /[\p{L}\p{N}]+/gu;
const SEPARATOR = /[ -/:-@[-`{-~]/g;

/** Samples of some columns of a table, by the column. */
export type ColumnSamples = ReadonlyMap<string, TextSample>;

/**
 * The groups of three characters that an index of trigrams has of a text, as long as they are: what
 * separates words is a blank in them, whatever it is.
 *
 * @returns the first places of each
 */
export function trigramsOf(text: string): Map<string, number[]> {
  const folded = text.toLowerCase().replace(SEPARATOR, ' ');
  const places = new Map<string, number[]>();
  for (const { 0: word, index } of folded.matchAll(WORD)) {
    const end = index + word.length;
    const first = folded[index - 1] === ' ' ? index - 1 : index;
    const last = folded[end] === ' ' ? end + 1 : end;
    for (let start = first; start + TRIGRAM <= last; start += 1) {
      const trigram = folded.slice(start, start + TRIGRAM);
      if (!trigram.isWellFormed()) continue;
      const others = places.get(trigram);
      if (others && others.length < MOST_PLACES) others.push(start);
      if (!others) places.set(trigram, [start]);
    }
  }
  return places;
}

/** The first letter of a word, which an index has beside the first two. */
export const beginningOf = (trigram: string): string => `  ${trigram.slice(1, 2)}`;

/** Some texts of a column, by the trigrams that they have; the others are thought to be like them. */
export class TextSample {
  private readonly texts = new Map<string, Set<number>>();
  private count = 0;

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text);
  }

  /** How many texts there are; none where they are too few to learn from. */
  get size(): number {
    return this.count < ENOUGH ? 0 : this.count;
  }

  add(text: string): void {
    for (const trigram of trigramsOf(` ${text} `).keys()) {
      this.note(trigram);
      if (trigram.startsWith(' ')) this.note(beginningOf(trigram));
    }
    this.count += 1;
  }

  private note(trigram: string): void {
    const having = this.texts.get(trigram);
    if (having) having.add(this.count);
    else this.texts.set(trigram, new Set([this.count]));
  }

  /** The texts that have a trigram, by their numbers. */
  having(trigram: string): ReadonlySet<number> {
    return this.texts.get(trigram) ?? new Set();
  }
}

/** Query for what texts begin with, in rows from all over a table. */
export const sampleOf = (table: Sql, columns: readonly Sql[]): Sql => sql`
  SELECT ${join(
    columns.map((column) => sql`left(${column}, ${LENGTH}) AS ${column}`),
    ', ',
  )} FROM ${table} WHERE id = ANY(ARRAY(
    SELECT (first + random() * (last - first))::bigint
    FROM (SELECT min(id) AS first, max(id) AS last FROM ${table}) ids,
      generate_series(1, ${ROWS})))`;
