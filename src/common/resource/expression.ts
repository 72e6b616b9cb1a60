import type { Sql } from '../../database/sql.js';

/**
 * Functions that compile the parts of an expression for the caller. The functions throw the same errors as
 * list filters.
 */
export interface ExpressionParts {
  /** @param key field and lookup, as in the query of a list: `groups__name__icontains` */
  condition(key: string, value: string): Sql;
  /** Returns the condition for rows that contain the words, as `search` finds them. */
  search(words: string): Sql;
}

/** Query language for a list, used through one query parameter. */
export interface Expression {
  parameter: string;
  help: string;
  /** Additional names that the language can search, besides fields and relations, for OPTIONS. */
  searchedNames: readonly string[];
  compile(text: string, alias: string, parts: ExpressionParts): Sql;
}
