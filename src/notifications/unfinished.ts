import type { Row } from '../common/resource/define-resource.js';
import { ident, sql, type Sql } from '../database/sql.js';

/**
 * Whether a notification is still to be sent: it was not tried yet, or it failed and is tried again
 * (docs/decisions/0045). The planned time stays while that retry is under way, so that a worker that
 * dies in it loses nothing. Served by `notifications_unfinished_idx`.
 */
export const unfinished = (alias: string): Sql =>
  sql`(${ident(alias, 'status')} = 'pending' OR ${ident(alias, 'next_attempt_at')} IS NOT NULL)`;

/** The same of a row that was read. */
export const isUnfinished = (row: Row): boolean =>
  row.status === 'pending' || row.next_attempt_at !== null;
