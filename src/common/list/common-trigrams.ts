import { and, join, sql, type Sql } from '../../database/sql.js';

/** Rows that are looked at to learn what most texts of a column share. */
export const SAMPLE = 200;
/** Of fewer nothing is learnt. */
const ENOUGH = 20;
/** A trigram is common where it is in so many of them. */
const COMMON_PART = 0.1;
const TRIGRAM = 3;

/** Groups of three letters or digits that many values of a column have, by the column. */
export type CommonTrigrams = ReadonlyMap<string, ReadonlySet<string>>;

const isWord = (text: string): boolean => /^[\p{L}\p{N}]+$/u.test(text);

function trigramsOf(text: string): Set<string> {
  const folded = text.toLowerCase();
  const windows = Array.from({ length: Math.max(0, folded.length - TRIGRAM + 1) }, (_, start) =>
    folded.slice(start, start + TRIGRAM),
  );
  return new Set(windows.filter(isWord));
}

/** @param values some values of a column; what they share is thought to be shared by the others */
export function commonAmong(values: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const value of values) {
    for (const trigram of trigramsOf(value)) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
  }
  if (values.length < ENOUGH) return new Set();
  const many = [...counts].filter(([, count]) => count > values.length * COMMON_PART);
  return new Set(many.map(([trigram]) => trigram));
}

/**
 * The parts of a term that few values have: what is between them leads an index to most of its rows.
 * Empty where there are none, or nothing is left out by naming them.
 */
export function tellingParts(term: string, common: ReadonlySet<string>): string[] {
  const folded = term.toLowerCase();
  // A letter that is folded into two would shift what follows.
  if (folded.length !== term.length) return [];
  const parts: { start: number; end: number }[] = [];
  let isShorter = false;
  for (let start = 0; start + TRIGRAM <= folded.length; start += 1) {
    const trigram = folded.slice(start, start + TRIGRAM);
    if (!isWord(trigram)) continue;
    if (common.has(trigram)) {
      isShorter = true;
      continue;
    }
    const last = parts.at(-1);
    if (last && last.end === start + TRIGRAM - 1) last.end += 1;
    else parts.push({ start, end: start + TRIGRAM });
  }
  return isShorter ? parts.map(({ start, end }) => term.slice(start, end)) : [];
}

const patternOf = (term: string): string => `%${term.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * A column holds a term, in whatever case.
 *
 * @param common what many values of the column have; an index on it is asked for the rest of the term
 */
export function holds(column: Sql, term: string, common: ReadonlySet<string> = new Set()): Sql {
  const parts = tellingParts(term, common);
  if (parts.length === 0) return sql`${column}::text ILIKE ${patternOf(term)}`;
  const telling = parts.map((part) => sql`${column} ILIKE ${patternOf(part)}`);
  // An expression has no index: it is asked of what was found by the parts.
  return and(...telling, sql`(${column} || '') ILIKE ${patternOf(term)}`);
}

/** Query for values of some columns, in rows from all over a table. */
export const sampleOf = (table: Sql, columns: readonly Sql[]): Sql => sql`
  SELECT ${join(columns, ', ')} FROM ${table} WHERE id = ANY(ARRAY(
    SELECT (first + random() * (last - first))::bigint
    FROM (SELECT min(id) AS first, max(id) AS last FROM ${table}) ids,
      generate_series(1, ${SAMPLE})))`;
