import type { Row } from '../common/resource/define-resource.js';
import { ident, sql, type Sql } from '../database/sql.js';

/**
 * Returns the SQL condition for an unfinished notification: it is pending, or it failed and will be
 * retried (docs/decisions/0045). The planned time stays set during the retry, so that the retry is
 * not lost if the worker dies. The index `notifications_unfinished_idx` serves this condition.
 */
export const unfinished = (alias: string): Sql =>
  sql`(${ident(alias, 'status')} = 'pending' OR ${ident(alias, 'next_attempt_at')} IS NOT NULL)`;

/** Returns true for the row of an unfinished notification. */
export const isUnfinished = (row: Row): boolean =>
  row.status === 'pending' || row.next_attempt_at !== null;
