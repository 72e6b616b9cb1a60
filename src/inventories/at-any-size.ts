import { sql, type Sql } from '../database/sql.js';

/**
 * The id of an inventory for looking names up in it. Told the id itself, PostgreSQL goes by what it last
 * counted: an inventory that has just been filled is taken for an empty one, so that all of it is read
 * for each name, or compared with each. Hidden in a query of its own, the id stands for an inventory of
 * the usual size, and each name is looked for in its index.
 */
export const atAnySize = (inventoryId: number): Sql => sql`(SELECT ${inventoryId}::int)`;
