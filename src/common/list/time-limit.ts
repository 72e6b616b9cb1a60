import type { Settings } from '../../config/settings.js';
import type { Database } from '../../database/database.js';
import { isStatementTimeout } from '../../database/sql-state.js';
import { Unavailable } from '../errors/errors.js';

const RETRY_SECONDS = 5;
const TOO_COSTLY =
  'The filters, search or order of this list take too long. Use fewer conditions, or other fields.';

/**
 * Runs work whose statements may read every row of a table.
 *
 * @throws Unavailable if the work occupies the database for longer than LIST_TIMEOUT_MS
 */
export async function withListTimeout<T>(
  database: Database,
  { LIST_TIMEOUT_MS, STATEMENT_TIMEOUT_MS }: Settings,
  work: () => Promise<T>,
): Promise<T> {
  if (LIST_TIMEOUT_MS >= STATEMENT_TIMEOUT_MS) return work();
  try {
    return await database.withStatementTimeout(LIST_TIMEOUT_MS, work);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new Unavailable(RETRY_SECONDS, TOO_COSTLY);
  }
}
