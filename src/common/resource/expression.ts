import type { Sql } from '../../database/sql.js';

/** What an expression is made of, for whoever asks; each throws what a filter of a list throws. */
export interface ExpressionParts {
  /** @param key field and lookup, as in the query of a list: `groups__name__icontains` */
  condition(key: string, value: string): Sql;
  /** Rows in which the words occur, as `search` finds them. */
  search(words: string): Sql;
}

/** A language of its own in which a list can be filtered, by one parameter of the query. */
export interface Expression {
  parameter: string;
  help: string;
  /** What it looks into besides fields and relations, for OPTIONS. */
  looksInto: readonly string[];
  compile(text: string, alias: string, parts: ExpressionParts): Sql;
}
