import { ident, or, sql, type Sql } from '../database/sql.js';
import { withHints, type Actor, type Predicate } from '../common/access.js';

/** Ids of the objects of a type on which the caller holds a role, directly or by implication. */
export const heldObjects = (type: string, role: string, actor: Actor): Sql => sql`
  SELECT anc.object_id FROM role_members mem
  JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
  WHERE mem.user_id = ${actor.id} AND anc.content_type = ${type} AND anc.role_field = ${role}`;

/** The caller holds `role` on the row itself, which is of `type`. */
export const hasRole = (type: string, role: string): Predicate =>
  withHints((alias, actor) => sql`${ident(alias, 'id')} IN (${heldObjects(type, role, actor)})`, {
    type,
    role,
  });

/** The caller holds `role` on the object of `type` that a column of the row names. */
export const hasRoleOn = (column: string, type: string, role: string): Predicate =>
  withHints((alias, actor) => sql`${ident(alias, column)} IN (${heldObjects(type, role, actor)})`, {
    type,
    role,
  });

/** The caller holds one of `roles` on at least one object of `type`. */
export const holdsAny = (type: string, roles: readonly string[], actor: Actor): Sql =>
  or(...roles.map((role) => sql`EXISTS (${heldObjects(type, role, actor)})`));

/** The caller holds one of `roles` on any object of `type`, whatever the row. */
export const hasRoleAnywhere = (type: string, ...roles: string[]): Predicate =>
  withHints(
    (_alias, actor) => holdsAny(type, roles, actor),
    ...roles.map((role) => ({ type, role })),
  );

/** The row is readable when a row of another table, tied by a column, meets a predicate. */
export const through = (column: string, table: string, predicate: Predicate): Predicate =>
  withHints(
    (alias, actor) => {
      const far = `${alias}_${table.slice(0, 3)}`;
      return sql`${ident(alias, column)} IN (
        SELECT ${ident(far, 'id')} FROM ${ident(table)} ${ident(far)}
        WHERE ${predicate(far, actor)})`;
    },
    ...(predicate.hints ?? []),
  );
