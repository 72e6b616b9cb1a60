import { and, FALSE, ident, or, sql, TRUE, type Sql } from '../database/sql.js';
import type { HeldRoles } from './held-roles.js';
import type { ResourceDefinition, Row } from './resource/define-resource.js';

/** Caller of a request, created by authentication only, or a user whose permissions other code checks. */
export interface Actor {
  id: number;
  username: string;
  isSuperuser: boolean;
  isSystemAuditor: boolean;
  /**
   * True if the caller, even as an administrator of an organization, sees only users and teams of
   * organizations that the caller belongs to.
   */
  isConfined?: boolean;
  /** Roles of the caller, if they were loaded in advance; used by the alternatives of rules. */
  heldRoles?: HeldRoles;
}

/** Actor with all permissions, for work that no user requests. Activity entries then have no user. */
export const SYSTEM_ACTOR: Actor = {
  id: 0,
  username: '',
  isSuperuser: true,
  isSystemAuditor: false,
};

/**
 * Role that satisfies a rule, for the pages that explain a refusal
 * (docs/contract/access.md#hints-on-refusals).
 */
export interface RoleHint {
  /** Type of the object that the role belongs to. */
  type: string;
  /** Role field, for example `admin_role`. */
  role: string;
}

/** Permission rule as SQL over one row. `alias` is the row's table in the statement. */
export interface Predicate {
  (alias: string, actor: Actor): Sql;
  /** Roles that satisfy the rule or, for `allOf`, one of its conditions, as far as roles can express them. */
  readonly hints?: readonly RoleHint[];
  /** The alternatives of an any-of rule. */
  readonly arms?: () => readonly Predicate[];
}

/** Adds the roles that satisfy a rule. */
export const withHints = (predicate: Predicate, ...hints: readonly RoleHint[]): Predicate =>
  Object.assign((alias: string, actor: Actor) => predicate(alias, actor), {
    ...(predicate.arms ? { arms: predicate.arms } : {}),
    hints,
  });

/** Adds the alternatives of an any-of rule. Each can use an index that the whole rule cannot use. */
export const withArms = (predicate: Predicate, arms: () => readonly Predicate[]): Predicate =>
  Object.assign((alias: string, actor: Actor) => predicate(alias, actor), {
    ...(predicate.hints ? { hints: predicate.hints } : {}),
    arms,
  });

/** Returns the alternatives of an any-of rule, or the rule itself. */
export const armsOf = (rule: Predicate): readonly Predicate[] => rule.arms?.() ?? [rule];

const hintsOf = (rules: readonly Predicate[]): RoleHint[] =>
  rules.flatMap((rule) => rule.hints ?? []);

/**
 * Permissions on a resource, as predicates. An unnamed action is refused. Superusers have all permissions
 * and system auditors can read everything; `permit` alone implements this.
 */
export interface Policy {
  read: Predicate;
  /** Stricter than `read`, for objects that can be opened by URL but are not listed. */
  list?: Predicate;
  change?: Predicate;
  delete?: Predicate;
  /** Detail of the 403 for a caller who can read the object but not delete it. */
  deleteRefusal?: string;
  /**
   * Detail of the 403 of the list for callers who are neither superusers nor auditors; without it they
   * get a list of what they can read.
   */
  listRefusal?: string;
  /**
   * Returns the rule for creating an object with these values. References are checked by their `needs`.
   */
  add?: (values: Record<string, unknown>) => Predicate;
  /**
   * Returns the condition that the caller could create any object of this type, for OPTIONS and forms.
   */
  mayAdd?: (actor: Actor) => Sql;
  actions?: Record<string, Predicate>;
}

/** Returns the rule for an action; undefined for an action that the policy does not name. */
export function ruleFor(policy: Policy, action: string): Predicate | undefined {
  switch (action) {
    case 'read':
      return policy.read;
    case 'list':
      return policy.list ?? policy.read;
    case 'change':
      return policy.change;
    case 'delete':
      return policy.delete;
    default:
      return policy.actions?.[action];
  }
}

/** Compiles an action of a policy for one caller. */
export function permit(policy: Policy, action: string, alias: string, actor: Actor): Sql {
  if (actor.isSuperuser) return TRUE;
  if (actor.isSystemAuditor && (action === 'read' || action === 'list')) return TRUE;
  return ruleFor(policy, action)?.(alias, actor) ?? FALSE;
}

export const anyOf = (...rules: Predicate[]): Predicate =>
  withArms(
    withHints((alias, actor) => or(...rules.map((rule) => rule(alias, actor))), ...hintsOf(rules)),
    () => rules.flatMap(armsOf),
  );

export const allOf = (...rules: Predicate[]): Predicate =>
  withHints((alias, actor) => and(...rules.map((rule) => rule(alias, actor))), ...hintsOf(rules));

/** Disables a rule if the installation confines administrators to their own organizations. */
export const unlessConfined =
  (rule: Predicate): Predicate =>
  (alias, actor) =>
    actor.isConfined ? FALSE : rule(alias, actor);

/** Permits any authenticated caller. */
export const everyone: Predicate = () => TRUE;
/** Permits superusers only (and system auditors for reading). */
export const superusersOnly: Predicate = () => FALSE;
/** Permits the user in the column, for users and objects that belong to a user. */
export const isActor =
  (column: string): Predicate =>
  (alias, actor) =>
    sql`${ident(alias, column)} = ${actor.id}`;

export interface ObjectRole {
  id: number;
  object_id: number;
  role_field: string;
}

/** Operations on roles for the generic routes. Implemented by the access module. */
export abstract class RoleStore {
  /** Returns the statement for the roles of objects (`ObjectRole`). */
  abstract ofObjects(type: string, ids: readonly number[]): Sql;
  /** Returns all roles of the caller, or null if they are too many for a statement. */
  abstract heldBy(actor: Actor): Promise<HeldRoles | null>;
  /** Creates the object roles of new rows and links them to their parents, in bulk. */
  abstract createRoles(definition: ResourceDefinition, rows: readonly Row[]): Promise<void>;
  /**
   * Grants the creator the object's admin role (docs/contract/access.md#creators); superusers need none.
   */
  abstract grantCreator(definition: ResourceDefinition, row: Row, actor: Actor): Promise<void>;
  /**
   * Links the roles of objects, and of objects below them, to new parents, for example after a move to
   * another organization. Locks the graph of roles, so it is called after all other locks are taken.
   */
  abstract parentChanged(definition: ResourceDefinition, rows: readonly Row[]): Promise<void>;
  /**
   * Returns the condition for rows on which the caller holds a role, or null if the resource does not
   * have the role.
   */
  abstract roleLevel(
    definition: ResourceDefinition,
    alias: string,
    role: string,
    actor: Actor,
  ): Sql | null;
}
