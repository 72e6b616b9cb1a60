import { sql, type Sql } from '../database/sql.js';

/** Name of a user, as a value of a statement; null when there is none. */
export const usernameOf = (id: Sql): Sql =>
  sql`(SELECT usr.username FROM users usr WHERE usr.id = ${id})`;
