import { sql, type Sql } from '../database/sql.js';

/**
 * Returns the SQL of an inventory id for looking up names in the inventory. With a literal id,
 * PostgreSQL relies on its last statistics and takes a newly filled inventory for an empty one: it
 * then scans the whole inventory for each name. As a subquery, the id stands for an inventory of
 * average size, and each name is looked up in the index.
 */
export const atAnySize = (inventoryId: number): Sql => sql`(SELECT ${inventoryId}::int)`;
