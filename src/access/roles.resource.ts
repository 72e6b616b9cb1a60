import { describeRole } from '../common/resource/role-descriptions.js';
import {
  defineResource,
  extendEach,
  findResource,
  manyToMany,
  type RowOf,
} from '../common/resource/define-resource.js';
import type { Extension, RepresentContext } from '../common/resource/extension.js';
import * as json from '../common/fields/json-schema.js';
import { summariesOf } from '../common/resource/representation.js';
import { ident, sql } from '../database/sql.js';
import { heldObjectsOfAllTypes } from './role-ancestors.repository.js';
import { Role } from './role.entity.js';
import { roleExpression, objectRelations } from './role-search.js';

/** Declares the relation to the roles that one step, or all steps, of the role graph lead to. */
const roleGraphRelation = (table: string, sourceColumn: string, targetColumn: string) =>
  manyToMany('role', { table, sourceColumn, targetColumn });

export const roles = defineResource({
  path: 'roles',
  type: 'role',
  entity: Role,
  orderBy: ['content_type', 'object_id', 'id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'role_field'],
  aliases: { content_type__model: 'content_type' },
  unique: { roles_object_key: 'Role exists.' },
  policy: {
    // A user with any role on an object sees all roles of the object; the system-wide roles are public.
    read: (alias, actor) => sql`(
      ${ident(alias, 'object_id')} IS NULL
      OR (${ident(alias, 'content_type')}, ${ident(alias, 'object_id')}) IN (
        ${heldObjectsOfAllTypes(actor)}))`,
  },
  relations: {
    members: manyToMany('user', { table: 'role_members', sourceColumn: 'role_id' }),
    teams: manyToMany('team', { table: 'role_teams', sourceColumn: 'role_id' }),
    parents: roleGraphRelation('role_parents', 'child_id', 'parent_id'),
    children: roleGraphRelation('role_parents', 'parent_id', 'child_id'),
    ancestors: roleGraphRelation('role_ancestors', 'role_id', 'ancestor_id'),
    descendents: roleGraphRelation('role_ancestors', 'ancestor_id', 'role_id'),
    ...objectRelations,
  },
  expression: roleExpression,
  extend,
  shows: {
    fields: {
      name: json.described(json.STRING, 'Name of the role.'),
      description: json.described(json.STRING, 'Permissions that the role grants.'),
    },
    // The link to the object is named by the object's type.
    relatedOthers: json.STRING,
    summary_fields: {
      resource_name: json.STRING,
      resource_id: json.INTEGER,
      resource_type: json.STRING,
      resource_type_display_name: json.STRING,
      // Present in lists of a user's or team's roles.
      user_capabilities: json.object({ unattach: json.BOOLEAN }),
    },
  },
});

async function extend(
  rows: readonly RowOf<Role>[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const names = new Map<string, Map<number, Record<string, unknown>>>();
  for (const type of new Set(rows.map((row) => row.content_type))) {
    const definition = findResource(type);
    if (!definition) continue;
    const rowsOfType = rows.filter((row) => row.content_type === type);
    const ids = rowsOfType.flatMap((row) => row.object_id ?? []);
    names.set(type, await summariesOf(definition, ids, context));
  }
  return extendEach(rows, (row) => {
    const type = row.content_type;
    const definition = findResource(type);
    const texts = describeRole(type, definition?.label ?? '', row.role_field);
    const summary = names.get(type)?.get(row.object_id ?? 0);
    return {
      fields: { name: texts.name, description: texts.description },
      related: definition ? { [type]: definition.url(row.object_id) } : {},
      summary_fields: definition
        ? {
            ...(summary ? { resource_name: summary.name ?? summary.username } : {}),
            resource_id: row.object_id,
            resource_type: type,
            resource_type_display_name: definition.label,
          }
        : {},
    };
  });
}
