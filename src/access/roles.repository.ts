import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { ident, sql, TRUE, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { heldObjectsOfAllTypes } from './role-ancestors.repository.js';
import { Role } from './role.entity.js';

export interface RoleRow extends Row {
  content_type: string;
  object_id: number | null;
  role_field: string;
}

/** Role of an object, and a user or team that holds it directly. */
export interface DirectHolder {
  object_id: number;
  type: 'user' | 'team';
  holder_id: number;
}

/** Returns the query for the ids of the roles of objects, optionally of one role field. */
export const rolesOf = (type: string, objects: readonly number[], field?: string): Sql => sql`
  SELECT id FROM roles WHERE content_type = ${type} AND object_id = ANY(${objects}::int[])
  ${field === undefined ? sql`` : sql`AND role_field = ${field}`}`;

/** Returns the query for the ids of roles of the whole system, by their fields. */
export const systemRoles = (fields: readonly string[]): Sql => sql`
  SELECT id FROM roles
  WHERE content_type = '' AND object_id IS NULL AND role_field = ANY(${fields}::text[])`;

/** Returns the query for the roles (`ObjectRole`) of objects. */
export const selectObjectRoles = (type: string, objects: readonly number[]): Sql => sql`
  SELECT id, object_id, role_field FROM roles
  WHERE content_type = ${type} AND object_id = ANY(${objects}::int[]) ORDER BY id`;

/**
 * Returns the condition that the row under an alias is a role of an object.
 *
 * @param object id of the object
 */
export const isRoleOf = (alias: string, type: string, object: Sql): Sql => sql`
  ${ident(alias, 'content_type')} = ${type} AND ${ident(alias, 'object_id')} = ${object}`;

/** Returns the query for the id of a role by its object and field. */
export const roleNamed = (type: Sql, object: Sql, field: Sql): Sql => sql`
  SELECT own.id FROM roles own
  WHERE own.content_type = ${type} AND own.object_id = ${object} AND own.role_field = ${field}`;

/**
 * Returns the condition that a role belongs to an object.
 *
 * @param role id of the role
 * @param object id of the object
 */
export const objectOfRole = (role: Sql, type: string, object: Sql): Sql => sql`
  ${object} = (SELECT own.object_id FROM roles own
    WHERE own.id = ${role} AND own.content_type = ${type})`;

@Injectable()
export class RolesRepository extends TableRepository<RoleRow> {
  constructor(@InjectRepository(Role) repository: Repository<Role>) {
    super(repository);
  }

  /**
   * Returns the role of an object by its field, unless the object was deleted. An object has either all
   * roles of its resource or none.
   */
  async ofObject(type: string, object: number, field: string): Promise<RoleRow | undefined> {
    return this.database.row<RoleRow>(sql`
      SELECT * FROM roles
      WHERE content_type = ${type} AND object_id = ${object} AND role_field = ${field}`);
  }

  /** Returns a role of the whole system by its field. */
  async ofSystem(field: string): Promise<RoleRow> {
    return this.database.rowOrFail<RoleRow>(sql`
      SELECT * FROM roles WHERE object_id IS NULL AND role_field = ${field}`);
  }

  async createFor(
    type: string,
    objects: readonly number[],
    fields: readonly string[],
  ): Promise<void> {
    await this.insertMany(
      objects.flatMap((id) =>
        fields.map((field) => ({ content_type: type, object_id: id, role_field: field })),
      ),
    );
  }

  /**
   * Returns the roles that a caller can grant and revoke (docs/contract/access.md#granting).
   *
   * @param managesMembership true if this includes the membership of organizations and teams
   */
  async manageable(
    ids: readonly number[],
    actor: Actor,
    managesMembership: boolean,
  ): Promise<number[]> {
    if (actor.isSuperuser || ids.length === 0) return [...ids];
    return this.database.ids(sql`
      SELECT own.id FROM roles own
      WHERE own.id = ANY(${ids}::int[])
        AND (own.content_type, own.object_id) IN (${heldObjectsOfAllTypes(actor, 'admin_role')})
        AND ${
          managesMembership
            ? TRUE
            : sql`NOT (own.content_type IN ('organization', 'team')
                AND own.role_field IN ('admin_role', 'member_role'))`
        }`);
  }

  /** Returns the users and teams that were granted a role of objects: users first, each ordered by id. */
  directHolders(type: string, field: string, ids: readonly number[]): Promise<DirectHolder[]> {
    return this.database.preparedRows<DirectHolder>(sql`
      WITH own AS (
        SELECT id, object_id FROM roles
        WHERE content_type = ${type} AND role_field = ${field} AND object_id = ANY(${ids}::int[]))
      SELECT own.object_id, 'user' AS type, mem.user_id AS holder_id
      FROM own JOIN role_members mem ON mem.role_id = own.id
      UNION ALL
      SELECT own.object_id, 'team', rt.team_id
      FROM own JOIN role_teams rt ON rt.role_id = own.id
      ORDER BY object_id, type DESC, holder_id`);
  }
}
