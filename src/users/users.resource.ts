import { ACCESS_SUMMARIES } from '../access/access-list.service.js';
import { hasRoleAnywhere, holdsAny } from '../access/predicates.js';
import { heldObjects, rolesHeldBy, usersHolding } from '../access/role-ancestors.repository.js';
import {
  allOf,
  anyOf,
  isActor,
  superusersOnly,
  unlessConfined,
  type Actor,
  type Predicate,
} from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import {
  defineResource,
  extendEach,
  hasMany,
  manyToMany,
} from '../common/resource/define-resource.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { ident, not, sql, TRUE, type Sql } from '../database/sql.js';
import { UserHooks } from './user.hooks.js';
import { User } from './user.entity.js';

/** Constant fields that existing clients read. */
const LEGACY = { auth: [], ldap_dn: '' } as const;

/** Returns the query for the ids of the members of organizations that a condition on the id selects. */
const membersOf = (organizations: (id: Sql) => Sql): Sql =>
  usersHolding('organization', 'member_role', organizations);

/** Returns the condition that the caller holds a role on an organization. */
const ofCaller =
  (role: string, actor: Actor) =>
  (id: Sql): Sql =>
    sql`${id} IN (${heldObjects('organization', role, actor)})`;

const sharesOrganization: Predicate = (alias, actor) =>
  sql`${ident(alias, 'id')} IN (${membersOf(ofCaller('read_role', actor))})`;

/**
 * Permits users whom the caller administers: the caller is an administrator of every organization that
 * the user belongs to, there is at least one, and the user is neither superuser nor auditor
 * (docs/contract/access.md#administering-users).
 */
const administersAllOf: Predicate = (alias, actor) => sql`(
  NOT ${ident(alias, 'is_superuser')} AND NOT ${ident(alias, 'is_system_auditor')}
  AND ${ident(alias, 'id')} IN (${membersOf(ofCaller('admin_role', actor))})
  AND ${ident(alias, 'id')} NOT IN (
    ${membersOf((id) => not(ofCaller('admin_role', actor)(id)))}))`;

/**
 * Permits users who hold no role that the caller does not hold: otherwise the caller could gain
 * permissions by setting the user's password (docs/contract/access.md#administering-users).
 */
const isWithinRights: Predicate = (alias, actor) => sql`NOT EXISTS (
  ${rolesHeldBy(ident(alias, 'id'), (role) => sql`${role} NOT IN (${rolesHeldBy(actor.id)})`)})`;

/**
 * Permits administrators of any organization on users who belong to no organization and are neither superuser
 * nor auditor.
 */
const isOrphan: Predicate = (alias, actor) => sql`(
  NOT ${ident(alias, 'is_superuser')} AND NOT ${ident(alias, 'is_system_auditor')}
  AND ${holdsAny('organization', ['admin_role'], actor)}
  AND ${ident(alias, 'id')} NOT IN (${membersOf(() => TRUE)}))`;

const isSuperuserRow: Predicate = (alias) => ident(alias, 'is_superuser');

export const users = defineResource({
  path: 'users',
  type: 'user',
  entity: User,
  pages: {
    list: {
      about: 'Accounts that can log in. The page of a user lists the roles and their origin.',
    },
  },
  orderBy: ['username'],
  hooks: UserHooks,
  naturalKey: ['username'],
  summary: ['id', 'username', 'first_name', 'last_name'],
  auditHidden: ['password'],
  // No caller can delete their own account.
  usable: { delete: ({ id }, actor) => id !== actor.id },
  aliases: { date_joined: 'created', main_oauth2accesstoken: 'tokens' },
  unique: { users_username_key: { username: 'A user with that username already exists.' } },
  policy: {
    read: anyOf(
      isActor('id'),
      isSuperuserRow,
      sharesOrganization,
      unlessConfined(hasRoleAnywhere('organization', 'admin_role', 'auditor_role')),
    ),
    add: () => superusersOnly,
    change: anyOf(isActor('id'), administersAllOf),
    delete: administersAllOf,
    deleteRefusal: 'Cannot delete user.',
    actions: {
      // Adding a user to an organization gives the organization's administrators control of the account.
      enlist: anyOf(administersAllOf, allOf(isOrphan, isWithinRights)),
      self: isActor('id'),
      set_password: anyOf(isActor('id'), isWithinRights),
    },
  },
  relations: {
    roles: manyToMany('role', { table: 'role_members', sourceColumn: 'user_id' }),
    activity_stream: hasMany('activity_stream', 'actor'),
  },
  extend: async (rows) => extendEach(rows, () => ({ fields: { password: ENCRYPTED, ...LEGACY } })),
  shows: {
    fields: {
      auth: json.described(json.list(json.object({})), 'Always empty.'),
      ldap_dn: json.described(
        json.STRING,
        'Always empty; external_identities has the accounts of directories.',
      ),
    },
    summary_fields: ACCESS_SUMMARIES,
  },
});
