import type { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { Forbidden } from '../common/errors/errors.js';

/**
 * Keeps an installation from losing its last superuser. To be called in the transaction that takes
 * the flag or the user away; the lock makes two such requests wait for each other.
 *
 * @throws Forbidden with `detail` when nobody else is superuser
 */
export async function assertOtherSuperuser(
  database: Database,
  userId: number,
  detail: string,
): Promise<void> {
  const superusers = await database.rows<{ id: number }>(
    sql`SELECT id FROM users WHERE is_superuser ORDER BY id FOR UPDATE`,
  );
  if (superusers.every(({ id }) => id === userId)) throw new Forbidden(detail);
}
