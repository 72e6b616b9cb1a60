import { FALSE, ident, or, sql, TRUE, type Sql } from '../database/sql.js';
import { armsOf, withArms, withHints, type Actor, type Predicate } from '../common/access.js';
import { resource } from '../common/resource/define-resource.js';
import { selectRows } from '../common/resource/select-rows.js';
import { heldObjects } from './role-ancestors.repository.js';

/** Permits rows of `type` on which the caller holds `role`. */
export const hasRole = (type: string, role: string): Predicate => hasRoleOn('id', type, role);

/** Permits rows whose column references an object of `type` on which the caller holds `role`. */
export const hasRoleOn = (column: string, type: string, role: string): Predicate =>
  withHints(
    among(column, (_alias, actor) => heldIds(type, role, actor)),
    { type, role },
  );

/** Returns the condition that the caller holds one of `roles` on at least one object of `type`. */
export const holdsAny = (type: string, roles: readonly string[], actor: Actor): Sql =>
  or(
    ...roles.map((role) => {
      if (!actor.heldRoles) return sql`EXISTS (${heldObjects(type, role, actor)})`;
      return actor.heldRoles.on(type, role).length > 0 ? TRUE : FALSE;
    }),
  );

/** Permits every row if the caller holds one of `roles` on any object of `type`. */
export const hasRoleAnywhere = (type: string, ...roles: string[]): Predicate =>
  withHints(
    (_alias, actor) => holdsAny(type, roles, actor),
    ...roles.map((role) => ({ type, role })),
  );

/** Permits rows whose column references an object of `type` that meets a predicate. */
export const refersTo = (column: string, type: string, predicate: Predicate): Predicate => {
  const idsMeeting =
    (rule: Predicate): Ids =>
    (alias, actor) => {
      const relatedAlias = `${alias}_${type.slice(0, 3)}`;
      const condition = rule(relatedAlias, actor);
      if (condition === FALSE) return [];
      return selectRows(resource(type), relatedAlias, ident(relatedAlias, 'id'), condition);
    };
  const rule = withHints(isIn(column, idsMeeting(predicate)), ...(predicate.hints ?? []));
  return withArms(rule, () => armsOf(predicate).map((arm) => isOneOf(column, idsMeeting(arm))));
};

/** Known ids, or a query for ids. `alias` is the row being tested. */
type Ids = (alias: string, actor: Actor) => readonly number[] | Sql;

/** Returns the ids of the objects of a type on which the caller holds a role. */
export const heldIds = (type: string, role: string, actor: Actor): readonly number[] | Sql =>
  actor.heldRoles?.on(type, role) ?? heldObjects(type, role, actor);

/** Permits rows whose column is one of the ids. */
export const among = (column: string, ids: Ids): Predicate =>
  withArms(isIn(column, ids), () => [isOneOf(column, ids)]);

const matching =
  (column: string, ids: Ids, toQuery: (query: Sql) => Sql): Predicate =>
  (alias, actor) => {
    const matches = ids(alias, actor);
    if (!isKnown(matches)) return sql`${ident(alias, column)} ${toQuery(matches)}`;
    return matches.length === 0 ? FALSE : sql`${ident(alias, column)} = ANY(${matches}::int[])`;
  };

/** Returns true if the ids are known and need no query. */
export const isKnown = (ids: readonly number[] | Sql): ids is readonly number[] =>
  Array.isArray(ids);

const isIn = (column: string, ids: Ids): Predicate =>
  matching(column, ids, (query) => sql`IN (${query})`);

/**
 * Permits rows whose column is one of few ids. `= ANY(ARRAY(…))` makes PostgreSQL use the index on the
 * column, regardless of its row estimate.
 */
const isOneOf = (column: string, ids: Ids): Predicate =>
  matching(column, ids, (query) => sql`= ANY(ARRAY(${query}))`);
