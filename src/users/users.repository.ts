import { permit, type Actor } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import { sql, type Sql } from '../database/sql.js';

/** Name of a user, as a value of a statement; null when there is none whom the reader may see. */
export const usernameOf = (id: Sql, reader: Actor): Sql => sql`(
  SELECT usr.username FROM users usr
  WHERE usr.id = ${id} AND ${permit(resource('user').policy, 'read', 'usr', reader)})`;
