import { ident, sql, TRUE, type Sql } from '../database/sql.js';
import { resource, type ResourceDefinition, type Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { AccessList } from './access-list.service.js';
import { GrantsService } from './grants.service.js';
import {
  accessibleObjects,
  heldObjects,
  objectsOfRoles,
  usersHolding,
} from './role-ancestors.repository.js';
import { rolesGrantedToUser, usersGranted } from './role-members.repository.js';
import { neighborsOf } from './role-parents.repository.js';
import { rolesGrantedToTeam, teamsGranted } from './role-teams.repository.js';
import { rolesOf, systemRoles, type RoleRow } from './roles.repository.js';
import { SYSTEM_FLAGS } from './user-store.js';

/** Returns the condition that the list's row is among the ids of a query. */
const hasIdIn = (ids: Sql): Sql => sql`t.id IN (${ids})`;

type Factory<Rules = unknown, Parent extends Row = Row, Child extends Row = Row> = (
  definition: ResourceDefinition,
  name: string,
) => SubListSpec<Parent, Child, Rules>;

/**
 * Verifies that the caller administers the organization that the object is or belongs to. Only those
 * administrators can create users.
 */
async function administersOrganization(context: LinkContext): Promise<void> {
  const { services, parent, parentDefinition, actor } = context;
  const organization =
    parentDefinition.type === 'organization' ? parent.id : parent.organization_id;
  const id = Number(organization);
  await services.resources.assertMay(resource('organization'), id, 'administer', actor);
}

/** Declares the list of users who hold a role of the object directly. Attaching grants the role. */
export const roleHolders =
  (field: string): Factory<GrantsService> =>
  (definition) => ({
    target: () => resource('user'),
    scope: ({ id }) => hasIdIn(usersGranted(rolesOf(definition.type, [id], field))),
    needs: definition.type === 'organization' ? 'administer' : 'change',
    create: () => ({}),
    authorizeCreate: administersOrganization,
    missingId: "User 'id' field is missing.",
    rules: GrantsService,
    attach: ({ rules, parent, actor }, user) =>
      rules.grantOn({ type: definition.type, id: parent.id }, field, user, actor),
    detach: ({ rules, parent, actor }, user) =>
      rules.revokeOn({ type: definition.type, id: parent.id }, field, user, actor),
  });

/** Declares the list of roles that can be granted on the object. */
export const objectRoles = (): Factory => (definition) => ({
  target: () => resource('role'),
  scope: (parent) => sql`t.content_type = ${definition.type} AND t.object_id = ${parent.id}`,
  options: () => ({ visible: TRUE, orderBy: ['id'] }),
});

/**
 * Common part of the lists of roles that a user or team holds. Adds `unattach` to each role: true if the
 * caller can revoke the role.
 */
const HELD_ROLES = {
  target: () => resource('role'),
  needs: 'read',
  rules: GrantsService,
  authorizeAttach: ({ rules, actor }) => rules.assertMayGrantSome(actor),
  missingId: "Role 'id' field is missing.",
  options: (context) => ({
    decorate: async (items) => {
      const ids = items.map(({ id }) => id);
      const revocable = await context.rules.revocable(ids, context.parent, context.actor);
      return items.map(({ summary_fields: summary, ...role }) => ({
        ...role,
        summary_fields: {
          ...summary,
          user_capabilities: { unattach: revocable.has(role.id) },
        },
      }));
    },
  }),
} as const satisfies Partial<SubListSpec<Row, RoleRow, GrantsService>>;

/**
 * Declares the list of roles granted to a team; POST `{id}` grants a role. The team's own read role is
 * not shown.
 */
export const teamRoles = (): Factory<GrantsService, Row, RoleRow> => () => ({
  ...HELD_ROLES,
  scope: ({ id }) => hasIdIn(rolesGrantedToTeam(id)),
  attach: ({ rules, parent, actor }, role) => rules.grantToTeam(role, parent, actor),
  detach: ({ rules, parent, actor }, role) => rules.revokeFromTeam(role, parent, actor),
});

/** Returns the fields of the system-wide roles whose flags a user has. */
const systemFieldsOf = (user: Row): string[] =>
  Object.entries(SYSTEM_FLAGS).flatMap(([field, flag]) => (user[flag] === true ? field : []));

export const userRoles = (): Factory<GrantsService, Row, RoleRow> => () => ({
  ...HELD_ROLES,
  scope: (user) =>
    hasIdIn(sql`${rolesGrantedToUser(user.id)} UNION ALL ${systemRoles(systemFieldsOf(user))}`),
  attach: ({ rules, parent, actor }, role) => rules.grantToUser(role, parent, actor),
  detach: ({ rules, parent, actor }, role) => rules.revokeFromUser(role, parent, actor),
});

/** Declares the list of objects of a type that a team has access to through any role. */
export const accessibleToTeam =
  (type: string, options: Partial<SubListSpec> = {}): Factory =>
  () => ({
    target: () => resource(type),
    scope: ({ id }) => hasIdIn(objectsOfRoles(type, rolesGrantedToTeam(id))),
    ...options,
  });

/** Declares the list of objects of a type that a user has access to through any role. */
export const accessible =
  (type: string, options: Partial<SubListSpec> = {}): Factory =>
  () => ({
    target: () => resource(type),
    scope: (user) => hasIdIn(accessibleObjects(type, user)),
    ...options,
  });

export const organizationsOf =
  (field: string): Factory =>
  () => ({
    target: () => resource('organization'),
    scope: (user) => hasIdIn(heldObjects('organization', field, user)),
  });

export const teamsOf = (): Factory => () => ({
  target: () => resource('team'),
  scope: (user) => hasIdIn(heldObjects('team', 'member_role', user)),
});

/**
 * Declares the list of users with access to the object, with the paths of their access
 * (docs/contract/access.md#access-lists).
 */
export const accessList = (): Factory<AccessList> => (definition) => ({
  target: () => resource('user'),
  scope: (parent) =>
    definition.type === 'user'
      ? sql`(t.is_superuser OR t.id = ${parent.id})`
      : sql`(t.is_superuser OR t.is_system_auditor OR ${hasIdIn(
          usersHolding(definition.type, null, (id) => sql`${id} = ${parent.id}`),
        )})`,
  rules: AccessList,
  options: (context) => ({
    orderBy: ['username'],
    decorate: (items, rows) => context.rules.describe(context, items, rows),
  }),
});

/**
 * Declares the list of users or teams that were granted one role: the inverse of `userRoles` and `teamRoles`.
 */
export const holdersOfRole =
  (type: 'user' | 'team'): Factory<GrantsService, RoleRow> =>
  () => ({
    target: () => resource(type),
    scope: ({ id, object_id: object, role_field: field }) => {
      const flag = object === null && type === 'user' ? SYSTEM_FLAGS[field] : undefined;
      if (flag) return ident('t', flag);
      const holders = type === 'user' ? usersGranted : teamsGranted;
      return hasIdIn(holders(sql`${id}`));
    },
    needs: 'read',
    rules: GrantsService,
    authorizeAttach: ({ rules, parent, actor }) => rules.assertMayGrant(parent, actor),
    missingId: `${type === 'user' ? 'User' : 'Team'} 'id' field is missing.`,
    attach: ({ rules, parent: role, actor }, holder) =>
      type === 'user'
        ? rules.grantToUser(role, holder, actor)
        : rules.grantToTeam(role, holder, actor),
    detach: ({ rules, parent: role, actor }, holder) =>
      type === 'user'
        ? rules.revokeFromUser(role, holder, actor)
        : rules.revokeFromTeam(role, holder, actor),
  });

/** Declares the list of roles that imply a role, or that a role implies. */
export const neighborsOfRole =
  (direction: 'parents' | 'children'): Factory =>
  () => ({
    target: () => resource('role'),
    scope: ({ id }) => hasIdIn(neighborsOf(id, direction)),
  });

/** Declares the list of teams that were granted any role on the object. */
export const teamsWithAccess = (): Factory => (definition) => ({
  target: () => resource('team'),
  scope: ({ id }) => hasIdIn(teamsGranted(rolesOf(definition.type, [id]))),
});
