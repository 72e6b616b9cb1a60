import { Injectable } from '@nestjs/common';
import {
  parentColumns,
  type ResourceDefinition,
  type Row,
} from '../common/resource/define-resource.js';
import { selectRows } from '../common/resource/select-rows.js';
import { ident, join, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RoleParent } from './role.entity.js';

/** Key of the advisory lock that keeps the closure consistent under concurrent changes. */
const GRAPH_LOCK = 7_301;

/** Edge between roles whose ids are unknown, identified by their objects. */
export interface RoleEdge {
  child: { object: number; field: string };
  parent: { type: string; object: number; field: string };
}

/** Returns the query for the ids of the roles that imply a role, or that a role implies. */
export const neighborsOf = (role: number, direction: 'parents' | 'children'): Sql =>
  direction === 'parents'
    ? sql`SELECT parent_id FROM role_parents WHERE child_id = ${role}`
    : sql`SELECT child_id FROM role_parents WHERE parent_id = ${role}`;

/** Edges between roles: holders of the parent also hold the child. */
@Injectable()
export class RoleParentsRepository extends TableRepository<RoleParent> {
  constructor(@InjectRepository(RoleParent) repository: Repository<RoleParent>) {
    super(repository);
  }

  /** Takes the lock exclusively until the end of the transaction. */
  async lock(): Promise<void> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${GRAPH_LOCK})`);
  }

  /**
   * Takes the lock in shared mode until the end of the transaction: waits for changes of edges, but not
   * for other shared holders.
   */
  async lockShared(): Promise<void> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock_shared(${GRAPH_LOCK})`);
  }

  async addEdge(parent: number, child: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO role_parents (child_id, parent_id, via) VALUES (${child}, ${parent}, 'team')
      ON CONFLICT DO NOTHING`);
  }

  /** Adds the edges that declarations imply, for roles of objects of one type. */
  async addImplied(type: string, edges: readonly RoleEdge[]): Promise<void> {
    const column = <T>(read: (edge: RoleEdge) => T): T[] => edges.map(read);
    await this.database.execute(sql`
      INSERT INTO role_parents (child_id, parent_id, via)
      SELECT child.id, parent.id, 'implied'
      FROM unnest(${column(({ child }) => child.object)}::int[],
          ${column(({ child }) => child.field)}::text[],
          ${column(({ parent }) => parent.type)}::text[],
          ${column(({ parent }) => parent.object)}::int[],
          ${column(({ parent }) => parent.field)}::text[])
        AS edge (object_id, role_field, parent_type, parent_object, parent_field)
      JOIN roles child ON child.content_type = ${type}
        AND child.object_id = edge.object_id AND child.role_field = edge.role_field
      JOIN roles parent ON parent.content_type = edge.parent_type
        AND parent.object_id = edge.parent_object AND parent.role_field = edge.parent_field
      ON CONFLICT DO NOTHING`);
  }

  /**
   * Returns the objects of a type that have one of the ids in a column, with the ids of their parents,
   * without a permission check.
   */
  objectsWith(
    definition: ResourceDefinition,
    column: string,
    ids: readonly number[],
  ): Promise<Row[]> {
    const columns = ['id', ...parentColumns(definition)].map((name) => ident('t', name));
    const condition = sql`${ident('t', column)} = ANY(${ids}::int[])`;
    return this.database.rows<Row>(selectRows(definition, 't', join(columns), condition));
  }

  /**
   * Removes the edges to roles that declarations imply.
   *
   * @param ids query for the ids of the roles
   */
  async removeImplied(ids: Sql): Promise<void> {
    await this.database.execute(
      sql`DELETE FROM role_parents WHERE via = 'implied' AND child_id IN (${ids})`,
    );
  }
}
