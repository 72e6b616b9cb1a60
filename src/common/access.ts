import { and, FALSE, ident, or, sql, TRUE, type Sql } from '../database/sql.js';
import type { HeldRoles } from './held-roles.js';
import type { ResourceDefinition, Row } from './resource/define-resource.js';

/** Who asks. Built once per request by authentication; never by a feature. */
export interface Actor {
  id: number;
  username: string;
  isSuperuser: boolean;
  isSystemAuditor: boolean;
  /** Sees users and teams of organizations of his own only, even as an administrator of one. */
  isConfined?: boolean;
  /** What the caller holds, where it was asked for beforehand: arms of rules name it. */
  held?: HeldRoles;
}

/**
 * A role that satisfies a rule, for the pages that explain a refusal
 * (docs/contract/access.md#hints-on-refusals).
 */
export interface RoleHint {
  /** Type of the object the role belongs to. */
  type: string;
  /** `admin_role`. */
  role: string;
}

/** A permission rule as SQL over one row, `alias` being its table in the statement. */
export interface Predicate {
  (alias: string, actor: Actor): Sql;
  /** Roles of which one is enough, as far as the rule can be told in roles. */
  readonly hints?: readonly RoleHint[];
  /** Rules of which one is enough, where it consists of such. */
  readonly arms?: () => readonly Predicate[];
}

/** Tells of a rule which roles satisfy it. */
export const withHints = (predicate: Predicate, ...hints: readonly RoleHint[]): Predicate =>
  Object.assign((alias: string, actor: Actor) => predicate(alias, actor), {
    ...(predicate.arms ? { arms: predicate.arms } : {}),
    hints,
  });

/** Tells of a rule that it is any of some others: each may have an index that the whole has not. */
export const withArms = (predicate: Predicate, arms: () => readonly Predicate[]): Predicate =>
  Object.assign((alias: string, actor: Actor) => predicate(alias, actor), {
    ...(predicate.hints ? { hints: predicate.hints } : {}),
    arms,
  });

/** The rules that a rule is any of: itself alone, unless it tells otherwise. */
export const armsOf = (rule: Predicate): readonly Predicate[] => rule.arms?.() ?? [rule];

const hintsOf = (rules: readonly Predicate[]): RoleHint[] =>
  rules.flatMap((rule) => rule.hints ?? []);

/**
 * Who may do what to a resource, as predicates. An action that is not named is refused. Superusers
 * may do everything and system auditors may read everything: that rule stands in `permit` alone.
 */
export interface Policy {
  read: Predicate;
  /** Narrower than `read`: what may be opened by URL and is in no list otherwise. */
  list?: Predicate;
  change?: Predicate;
  delete?: Predicate;
  /** Detail of a 403 to a caller who may read the object and not delete it. */
  deleteRefusal?: string;
  /** Whether an object with these values may be created; references are checked by their `needs`. */
  add?: (values: Record<string, unknown>) => Predicate;
  /** Whether the caller could create anything of this kind; for OPTIONS and forms. */
  mayAdd?: (actor: Actor) => Sql;
  actions?: Record<string, Predicate>;
}

/** Compiles an action of a policy for one caller. */
export function permit(policy: Policy, action: string, alias: string, actor: Actor): Sql {
  if (actor.isSuperuser) return TRUE;
  if (action === 'read' || action === 'list') {
    const rule = action === 'list' ? (policy.list ?? policy.read) : policy.read;
    return actor.isSystemAuditor ? TRUE : rule(alias, actor);
  }
  const predicate =
    action === 'change'
      ? policy.change
      : action === 'delete'
        ? policy.delete
        : policy.actions?.[action];
  return predicate ? predicate(alias, actor) : FALSE;
}

export const anyOf = (...rules: Predicate[]): Predicate =>
  withArms(
    withHints((alias, actor) => or(...rules.map((rule) => rule(alias, actor))), ...hintsOf(rules)),
    () => rules.flatMap(armsOf),
  );

export const allOf = (...rules: Predicate[]): Predicate =>
  withHints((alias, actor) => and(...rules.map((rule) => rule(alias, actor))), ...hintsOf(rules));

/** The rule holds only where the installation does not confine administrators to their own. */
export const unlessConfined =
  (rule: Predicate): Predicate =>
  (alias, actor) =>
    actor.isConfined ? FALSE : rule(alias, actor);

/** Any authenticated caller. */
export const everyone: Predicate = () => TRUE;
/** Nobody but superusers (and, for reading, system auditors). */
export const superusersOnly: Predicate = () => FALSE;
/** The row is the caller: for users and what belongs to one. */
export const isActor =
  (column: string): Predicate =>
  (alias, actor) =>
    sql`${ident(alias, column)} = ${actor.id}`;

/** A role of an object. */
export interface ObjectRole {
  id: number;
  object_id: number;
  role_field: string;
}

/** What the generic routes need of roles. Implemented by the access module. */
export abstract class RoleStore {
  /** Statement for the roles of some objects (`ObjectRole`). */
  abstract ofObjects(type: string, ids: readonly number[]): Sql;
  /** All that the caller holds, or null where it is too much to be named in a statement. */
  abstract heldBy(actor: Actor): Promise<HeldRoles | null>;
  /** Makes the object roles of new rows and ties them to their parents, set-based. */
  abstract createRoles(definition: ResourceDefinition, rows: readonly Row[]): Promise<void>;
  /**
   * Gives the creator the object's admin role (docs/contract/access.md#creators); superusers need
   * none.
   */
  abstract grantCreator(definition: ResourceDefinition, row: Row, actor: Actor): Promise<void>;
  /** Ties the roles of an object to its new parent, e.g. after a move to another organization. */
  abstract parentChanged(definition: ResourceDefinition, row: Row): Promise<void>;
  /** Rows on which the caller holds a role; null when the resource has no such role. */
  abstract roleLevel(
    definition: ResourceDefinition,
    alias: string,
    role: string,
    actor: Actor,
  ): Sql | null;
}
