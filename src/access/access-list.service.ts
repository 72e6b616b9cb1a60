import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { findResource, type Row } from '../common/resource/define-resource.js';
import * as json from '../common/fields/json-schema.js';
import type { JsonSchemas } from '../common/fields/json-schema.js';
import { summariesOf, type Representation } from '../common/resource/representation.js';
import { describeRole } from '../common/resource/role-descriptions.js';
import type { LinkContext } from '../common/rest/sublist.js';
import { Database } from '../database/database.js';
import { GrantsService } from './grants.service.js';
import { RoleMembersRepository, type Access } from './role-members.repository.js';

/** Role by which a user has access. */
export interface AccessEntry {
  role: {
    /** Null for system-wide flags. */
    id: number | null;
    name: string;
    resource_name?: string | null;
    resource_type?: string;
    related?: Record<string, string>;
    user_capabilities: { unattach: boolean };
    team_id?: number;
    team_name?: string;
  };
  /** Roles of the object that the role implies. */
  descendant_roles: string[];
}

const ACCESS = json.list(
  json.object({
    role: json.object(
      {
        id: json.orNull(json.INTEGER),
        name: json.STRING,
        description: json.STRING,
        resource_name: json.orNull(json.STRING),
        resource_type: json.STRING,
        related: json.mapOf(json.STRING),
        user_capabilities: json.object({ unattach: json.BOOLEAN }),
        user_only: json.BOOLEAN,
        team_id: json.INTEGER,
        team_name: json.STRING,
        team_organization_name: json.STRING,
      },
      [
        'resource_name',
        'resource_type',
        'related',
        'user_only',
        'team_id',
        'team_name',
        'team_organization_name',
      ],
    ),
    descendant_roles: json.list(json.STRING),
  }),
);

/** Schemas of the members that access lists add to their users. */
export const ACCESS_SUMMARIES: JsonSchemas = { direct_access: ACCESS, indirect_access: ACCESS };

/** Adds to the users of an access list the roles by which they have access. */
@Injectable()
export class AccessList {
  constructor(
    private readonly members: RoleMembersRepository,
    private readonly grants: GrantsService,
    private readonly database: Database,
  ) {}

  /**
   * Adds `direct_access` and `indirect_access` to a page of users: every role that gives access, the roles
   * of this object that the role implies, and the team that holds the role. Uses a constant number of
   * statements.
   */
  async describe(
    { parent, parentDefinition, actor }: Pick<LinkContext, 'parent' | 'parentDefinition' | 'actor'>,
    items: Representation[],
    rows: readonly Row[],
  ): Promise<Representation[]> {
    const ids = rows.map(({ id }) => id);
    const grants = await this.members.accessTo(parentDefinition.type, parent.id, ids, actor);
    const names = await this.nameObjects(grants, actor);
    const roles = [...new Set(grants.map((access) => access.role_id))];
    const manageable = await this.grants.manageable(roles, actor);
    const isDirect = (access: Access): boolean =>
      access.content_type === parentDefinition.type && access.object_id === parent.id;
    return items.map((item) => {
      const row = rows.find(({ id }) => id === item.id);
      const userAccesses = grants.filter((access) => access.user_id === item.id);
      const entry = (access: Access): AccessEntry =>
        accessEntry(access, names, mayRevoke(access, manageable));
      return {
        ...item,
        summary_fields: {
          ...item.summary_fields,
          direct_access: userAccesses.filter(isDirect).map(entry),
          indirect_access: [
            ...userAccesses.filter((access) => !isDirect(access)).map(entry),
            ...systemAccess(
              row,
              parentDefinition.roles.map(({ field }) => field),
            ),
          ],
        },
      };
    });
  }

  private async nameObjects(grants: readonly Access[], actor: Actor): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    for (const type of new Set(grants.map((access) => access.content_type))) {
      const definition = findResource(type);
      if (!definition) continue;
      const ids = grants
        .filter((access) => access.content_type === type)
        .map((access) => access.object_id);
      const context = { database: this.database, actor, detail: false };
      for (const [id, summary] of await summariesOf(definition, [...new Set(ids)], context)) {
        names.set(`${type}:${id}`, String(summary.name ?? summary.username ?? ''));
      }
    }
    return names;
  }
}

/** Returns true if the caller can revoke the access. Revoking from a team also requires read on the team. */
const mayRevoke = (access: Access, manageable: ReadonlySet<number>): boolean =>
  manageable.has(access.role_id) && (access.team_id === null || access.team_name !== null);

function accessEntry(access: Access, names: Map<string, string>, unattach: boolean): AccessEntry {
  const definition = findResource(access.content_type);
  const texts = describeRole(access.content_type, definition?.label ?? '', access.role_field);
  return {
    role: {
      id: access.role_id,
      ...texts,
      resource_name: names.get(`${access.content_type}:${access.object_id}`) ?? null,
      resource_type: access.content_type,
      related: definition ? { [access.content_type]: definition.url(access.object_id) } : {},
      user_capabilities: { unattach },
      ...(access.team_id === null
        ? {}
        : {
            team_id: access.team_id,
            ...(access.team_name === null ? {} : { team_name: access.team_name }),
            ...(access.team_organization_name === null
              ? {}
              : { team_organization_name: access.team_organization_name }),
          }),
    },
    descendant_roles: access.descendants,
  };
}

function systemAccess(row: Row | undefined, fields: readonly string[]): AccessEntry[] {
  const entry = (field: string, descendants: string[]): AccessEntry => ({
    role: {
      id: null,
      ...describeRole('', 'System', field),
      user_capabilities: { unattach: false },
    },
    descendant_roles: descendants,
  });
  return [
    ...(row?.is_superuser === true ? [entry('system_administrator', [...fields])] : []),
    ...(row?.is_system_auditor === true
      ? [
          entry(
            'system_auditor',
            fields.filter((field) => field === 'read_role'),
          ),
        ]
      : []),
  ];
}
