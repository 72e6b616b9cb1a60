import { Injectable } from '@nestjs/common';
import { existing } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { insertRows } from '../database/rows.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

export interface RoleRow extends Row {
  content_type: string;
  object_id: number | null;
  role_field: string;
}

/** A role of an object and somebody who holds it without another role between. */
export interface DirectHolder {
  object_id: number;
  type: 'user' | 'team';
  holder_id: number;
}

/** Ids of the roles of some objects, or of the ones of a field. */
export const rolesOf = (type: string, objects: readonly number[], field?: string): Sql => sql`
  SELECT id FROM roles WHERE content_type = ${type} AND object_id = ANY(${objects}::int[])
  ${field === undefined ? sql`` : sql`AND role_field = ${field}`}`;

/** The roles (`ObjectRole`) of some objects. */
export const objectRoles = (type: string, objects: readonly number[]): Sql => sql`
  SELECT id, object_id, role_field FROM roles
  WHERE content_type = ${type} AND object_id = ANY(${objects}::int[]) ORDER BY id`;

/** Ids of the objects of a type that roles belong to. @param ids query for the ids of the roles */
export const objectsOfRoles = (type: string, ids: Sql): Sql => sql`
  SELECT object_id FROM roles WHERE content_type = ${type} AND id IN (${ids})`;

@Injectable()
export class RolesRepository extends TableRepository<RoleRow> {
  constructor(database: Database) {
    super(database, 'roles');
  }

  /** The role of an object by its field; objects with roles always have all of theirs. */
  async ofObject(type: string, object: number, field: string): Promise<RoleRow> {
    const row = await this.database.row<RoleRow>(sql`
      SELECT * FROM roles
      WHERE content_type = ${type} AND object_id = ${object} AND role_field = ${field}`);
    return existing(row, 'an object has the roles its resource declares');
  }

  /** Makes the roles of new objects. */
  async createFor(
    type: string,
    objects: readonly number[],
    fields: readonly string[],
  ): Promise<void> {
    await this.database.execute(
      insertRows(
        'roles',
        { content_type: 'text', object_id: 'integer', role_field: 'text' },
        objects.flatMap((id) => fields.map((field) => [type, id, field])),
      ),
    );
  }

  /** Users and teams that were given a role of some objects: users first, each in order of id. */
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
