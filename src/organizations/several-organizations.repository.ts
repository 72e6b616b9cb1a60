import { sql, type Sql } from '../database/sql.js';

/** One row when there is more than one organization, else none. */
export const severalOrganizations = (): Sql => sql`SELECT 1 FROM organizations OFFSET 1 LIMIT 1`;
