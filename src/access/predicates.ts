import { FALSE, ident, or, sql, TRUE, type Sql } from '../database/sql.js';
import { armsOf, withArms, withHints, type Actor, type Predicate } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import { selectRows } from '../common/resource/select-rows.js';
import { heldObjects } from './role-ancestors.repository.js';

/** The caller holds `role` on the row itself, which is of `type`. */
export const hasRole = (type: string, role: string): Predicate => hasRoleOn('id', type, role);

/** The caller holds `role` on the object of `type` that a column of the row names. */
export const hasRoleOn = (column: string, type: string, role: string): Predicate =>
  withHints(
    among(column, (_alias, actor) => heldIds(type, role, actor)),
    { type, role },
  );

/** The caller holds one of `roles` on at least one object of `type`. */
export const holdsAny = (type: string, roles: readonly string[], actor: Actor): Sql =>
  or(
    ...roles.map((role) => {
      if (!actor.held) return sql`EXISTS (${heldObjects(type, role, actor)})`;
      return actor.held.on(type, role).length > 0 ? TRUE : FALSE;
    }),
  );

/** The caller holds one of `roles` on any object of `type`, whatever the row. */
export const hasRoleAnywhere = (type: string, ...roles: string[]): Predicate =>
  withHints(
    (_alias, actor) => holdsAny(type, roles, actor),
    ...roles.map((role) => ({ type, role })),
  );

/** The row is readable when the object of `type` that a column of the row names meets a predicate. */
export const through = (column: string, type: string, predicate: Predicate): Predicate => {
  const meeting =
    (rule: Predicate): Ids =>
    (alias, actor) => {
      const far = `${alias}_${type.slice(0, 3)}`;
      const condition = rule(far, actor);
      if (condition === FALSE) return [];
      return selectRows(resource(type), far, ident(far, 'id'), condition);
    };
  const rule = withHints(isIn(column, meeting(predicate)), ...(predicate.hints ?? []));
  return withArms(rule, () => armsOf(predicate).map((arm) => isOneOf(column, meeting(arm))));
};

/** Ids that are known, or the query for them; `alias` is the row that is asked about. */
type Ids = (alias: string, actor: Actor) => readonly number[] | Sql;

/** Ids of the objects of a type on which the caller holds a role. */
export const heldIds = (type: string, role: string, actor: Actor): readonly number[] | Sql =>
  actor.held?.on(type, role) ?? heldObjects(type, role, actor);

/** A column of the row is among some ids. */
export const among = (column: string, ids: Ids): Predicate =>
  withArms(isIn(column, ids), () => [isOneOf(column, ids)]);

const matching =
  (column: string, ids: Ids, toQuery: (query: Sql) => Sql): Predicate =>
  (alias, actor) => {
    const found = ids(alias, actor);
    if (!isKnown(found)) return sql`${ident(alias, column)} ${toQuery(found)}`;
    return found.length === 0 ? FALSE : sql`${ident(alias, column)} = ANY(${found}::int[])`;
  };

/** Whether ids are there, and need not be asked for. */
export const isKnown = (ids: readonly number[] | Sql): ids is readonly number[] =>
  Array.isArray(ids);

const isIn = (column: string, ids: Ids): Predicate =>
  matching(column, ids, (query) => sql`IN (${query})`);

/** The same for few rows: PostgreSQL looks for what has them by its index, whatever it expects. */
const isOneOf = (column: string, ids: Ids): Predicate =>
  matching(column, ids, (query) => sql`= ANY(ARRAY(${query}))`);
