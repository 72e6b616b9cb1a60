import { ident, or, sql, type Sql } from '../database/sql.js';
import { armsOf, withArms, withHints, type Actor, type Predicate } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import { selectRows } from '../common/resource/select-rows.js';
import { heldObjects } from './role-ancestors.repository.js';

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

/** The row is readable when the object of `type` that a column of the row names meets a predicate. */
export const through = (column: string, type: string, predicate: Predicate): Predicate => {
  const near =
    (rule: Predicate, among: (rows: Sql) => Sql): Predicate =>
    (alias, actor) => {
      const far = `${alias}_${type.slice(0, 3)}`;
      const rows = selectRows(resource(type), far, ident(far, 'id'), rule(far, actor));
      return sql`${ident(alias, column)} ${among(rows)}`;
    };
  const rule = withHints(near(predicate, isIn), ...(predicate.hints ?? []));
  return withArms(rule, () => armsOf(predicate).map((arm) => near(arm, isOneOf)));
};

const isIn = (rows: Sql): Sql => sql`IN (${rows})`;

/** The same for few rows: PostgreSQL looks for what has them by its index, whatever it expects. */
const isOneOf = (rows: Sql): Sql => sql`= ANY(ARRAY(${rows}))`;
