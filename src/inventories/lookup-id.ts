import { sql, type Sql } from '../database/sql.js';

/**
 * Returns the SQL of an inventory id for looking up names in the inventory. With a literal id,
 * PostgreSQL relies on its last statistics and assumes that a newly filled inventory is empty: it
 * then scans the whole inventory for each name. With a subquery, PostgreSQL assumes an inventory of
 * average size, and looks up each name in the index.
 */
export const lookupId = (inventoryId: number): Sql => sql`(SELECT ${inventoryId}::int)`;
