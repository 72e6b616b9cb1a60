import { and, ident, sql, type Sql } from '../database/sql.js';
import { existing } from '../common/invariants.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { describeAccess } from './access-list.js';
import { GrantsService, type RoleRow } from './grants.service.js';

type Factory<Parent extends Row = Row, Child extends Row = Row> = (
  definition: ResourceDefinition,
  name: string,
) => SubListSpec<Parent, Child>;

/** Role of an object by its field; objects with roles always have all of theirs. */
async function roleOf(context: LinkContext, field: string): Promise<RoleRow> {
  const { services, parent, parentDefinition } = context;
  const row = existing(
    await services.database.row<RoleRow>(sql`
    SELECT * FROM roles
    WHERE content_type = ${parentDefinition.type} AND object_id = ${parent.id}
      AND role_field = ${field}`),
    'an object has the roles its resource declares',
  );
  return row;
}

const grants = ({ services }: LinkContext): GrantsService => services.find(GrantsService);

/** New users are made by administrators of the organization that the object is or belongs to. */
async function administersOrganization(context: LinkContext): Promise<void> {
  const { services, parent, parentDefinition, actor } = context;
  const organization =
    parentDefinition.type === 'organization' ? parent.id : parent.organization_id;
  const id = Number(organization);
  await services.resources.assertMay(resource('organization'), id, 'administer', actor);
}

/** Users who hold a role of the object themselves; attaching grants it. */
export const roleHolders =
  (field: string, { create = true }: { create?: boolean } = {}): Factory =>
  (definition) => ({
    target: () => resource('user'),
    scope: (parent) => sql`t.id IN (
      SELECT mem.user_id FROM role_members mem JOIN roles r ON r.id = mem.role_id
      WHERE r.content_type = ${definition.type} AND r.object_id = ${parent.id}
        AND r.role_field = ${field})`,
    needs: definition.type === 'organization' ? 'administer' : 'change',
    ...(create ? { create: () => ({}), authoriseCreate: administersOrganization } : {}),
    missingId: "User 'id' field is missing.",
    attach: async (context, user) =>
      grants(context).grantToUser(await roleOf(context, field), user, context.actor),
    detach: async (context, user) =>
      grants(context).revokeFromUser(await roleOf(context, field), user, context.actor),
  });

/** The roles that can be granted on the object. */
export const objectRoles = (): Factory => (definition) => ({
  target: () => resource('role'),
  scope: (parent) => sql`t.content_type = ${definition.type} AND t.object_id = ${parent.id}`,
  options: () => ({ visible: sql`TRUE`, orderBy: ['id'] }),
});

/** Roles granted to a team; POST `{id}` grants one. The team's own read role is not shown. */
export const rolesOfTeam = (): Factory<Row, RoleRow> => () => ({
  target: () => resource('role'),
  scope: (parent) =>
    sql`t.id IN (SELECT rt.role_id FROM role_teams rt WHERE rt.team_id = ${parent.id})`,
  needs: 'read',
  authoriseAttach: (context) => grants(context).assertMayGrantSome(context.actor),
  missingId: "Role 'id' field is missing.",
  attach: (context, role) => grants(context).grantToTeam(role, context.parent, context.actor),
  detach: (context, role) => grants(context).revokeFromTeam(role, context.parent, context.actor),
});

export const rolesOfUser = (): Factory<Row, RoleRow> => () => ({
  target: () => resource('role'),
  scope: (parent) =>
    sql`t.id IN (SELECT mem.role_id FROM role_members mem WHERE mem.user_id = ${parent.id})`,
  needs: 'read',
  authoriseAttach: (context) => grants(context).assertMayGrantSome(context.actor),
  missingId: "Role 'id' field is missing.",
  attach: (context, role) => grants(context).grantToUser(role, context.parent, context.actor),
  detach: (context, role) => grants(context).revokeFromUser(role, context.parent, context.actor),
});

/** Objects of a type on which a team was granted any role. */
export const grantedTo =
  (type: string, options: Partial<SubListSpec> = {}): Factory =>
  () => ({
    target: () => resource(type),
    scope: (parent) => sql`t.id IN (
      SELECT r.object_id FROM role_teams rt JOIN roles r ON r.id = rt.role_id
      WHERE rt.team_id = ${parent.id} AND r.content_type = ${type})`,
    ...options,
  });

/** Objects of a type that a user reaches through any role. */
export const holdingsOf =
  (type: string, options: Partial<SubListSpec> = {}): Factory =>
  () => ({
    target: () => resource(type),
    scope: (parent) => sql`t.id IN (
      SELECT anc.object_id FROM role_members mem
      JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
      WHERE mem.user_id = ${parent.id} AND anc.content_type = ${type})`,
    ...options,
  });

export const organizationsOf =
  (field: string): Factory =>
  () => ({
    target: () => resource('organization'),
    scope: (parent) => holds(parent, 'organization', field),
  });

export const teamsOf = (): Factory => () => ({
  target: () => resource('team'),
  scope: (parent) => holds(parent, 'team', 'member_role'),
});

const holds = (user: Row, type: string, field: string): Sql => sql`t.id IN (
  SELECT anc.object_id FROM role_members mem JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
  WHERE mem.user_id = ${user.id} AND anc.content_type = ${type} AND anc.role_field = ${field})`;

/** Users with access to the object and by which path (docs/contract/access.md#access-lists). */
export const accessList = (): Factory => (definition) => ({
  target: () => resource('user'),
  scope: (parent) =>
    definition.type === 'user'
      ? sql`(t.is_superuser OR t.id = ${parent.id})`
      : sql`(t.is_superuser OR t.is_system_auditor OR t.id IN (
          SELECT mem.user_id FROM role_members mem
          JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
          WHERE anc.content_type = ${definition.type} AND anc.object_id = ${parent.id}))`,
  options: (context) => ({
    orderBy: ['username'],
    decorate: (items, rows) => describeAccess(context, items, rows),
  }),
});

/** Users or teams that hold one role; the other side of `rolesOfUser` and `rolesOfTeam`. */
export const holdersOfRole =
  (type: 'user' | 'team'): Factory<RoleRow> =>
  () => ({
    target: () => resource(type),
    scope: (role) => {
      const table = type === 'user' ? 'role_members' : 'role_teams';
      return sql`t.id IN (
        SELECT ${ident(`${type}_id`)} FROM ${ident(table)} WHERE role_id = ${role.id})`;
    },
    needs: 'read',
    authoriseAttach: (context) => grants(context).assertMayGrant(context.parent, context.actor),
    missingId: `${type === 'user' ? 'User' : 'Team'} 'id' field is missing.`,
    attach: (context, holder) =>
      type === 'user'
        ? grants(context).grantToUser(context.parent, holder, context.actor)
        : grants(context).grantToTeam(context.parent, holder, context.actor),
    detach: (context, holder) =>
      type === 'user'
        ? grants(context).revokeFromUser(context.parent, holder, context.actor)
        : grants(context).revokeFromTeam(context.parent, holder, context.actor),
  });

/** Implied neighbours of a role in the graph. */
export const neighboursOfRole =
  (direction: 'parents' | 'children'): Factory =>
  () => ({
    target: () => resource('role'),
    scope: (role) => {
      const [mine, other] =
        direction === 'parents'
          ? (['child_id', 'parent_id'] as const)
          : (['parent_id', 'child_id'] as const);
      return sql`t.id IN (
        SELECT ${ident(other)} FROM role_parents WHERE ${ident(mine)} = ${role.id})`;
    },
  });

/** Teams that hold any role on the object. */
export const teamsWithAccess = (): Factory => (definition) => ({
  target: () => resource('team'),
  scope: (parent) =>
    and(sql`t.id IN (
      SELECT rt.team_id FROM role_teams rt JOIN roles r ON r.id = rt.role_id
      WHERE r.content_type = ${definition.type} AND r.object_id = ${parent.id})`),
});
