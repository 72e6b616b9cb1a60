import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { insertRows } from '../database/rows.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { RoleStore, type Actor } from '../common/access.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { heldObjects } from './predicates.js';

/** Namespace of the advisory lock that keeps the closure true under concurrent changes. */
const GRAPH_LOCK = 7_301;

/**
 * Roles, who implies whom, and the closure of it. New objects take the lock shared, changes of
 * edges take it alone: an object made while a team is granted a role of its organization is seen.
 */
@Injectable()
export class RoleGraph extends RoleStore {
  constructor(private readonly database: Database) {
    super();
  }

  async createRoles(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    if (definition.roles.length === 0 || rows.length === 0) return;
    await this.database.execute(sql`SELECT pg_advisory_xact_lock_shared(${GRAPH_LOCK})`);
    await this.database.execute(
      insertRows(
        'roles',
        { content_type: 'text', object_id: 'integer', role_field: 'text' },
        rows.flatMap(({ id }) => definition.roles.map(({ field }) => [definition.type, id, field])),
      ),
    );
    await this.tie(definition, rows);
    await this.rebuild(sql`
      SELECT id FROM roles
      WHERE content_type = ${definition.type} AND object_id = ANY(${rows.map(({ id }) => id)}::int[])`);
  }

  async grantCreator(definition: ResourceDefinition, row: Row, actor: Actor): Promise<void> {
    const hasAdmin = definition.roles.some(({ field }) => field === 'admin_role');
    if (!hasAdmin || actor.isSuperuser || actor.id === 0) return;
    await this.database.execute(sql`
      INSERT INTO role_members (role_id, user_id)
      SELECT id, ${actor.id} FROM roles
      WHERE content_type = ${definition.type} AND object_id = ${row.id}
        AND role_field = 'admin_role'
        AND object_id NOT IN (${heldObjects(definition.type, 'admin_role', actor)})
      ON CONFLICT DO NOTHING`);
  }

  async parentChanged(definition: ResourceDefinition, row: Row): Promise<void> {
    await this.lock();
    const own = sql`
      SELECT id FROM roles WHERE content_type = ${definition.type} AND object_id = ${row.id}`;
    await this.database.execute(
      sql`DELETE FROM role_parents WHERE via = 'implied' AND child_id IN (${own})`,
    );
    await this.tie(definition, [row]);
    await this.rebuildBelow(own);
  }

  roleLevel(definition: ResourceDefinition, alias: string, role: string, actor: Actor): Sql | null {
    if (!definition.roles.some(({ field }) => field === role)) return null;
    if (actor.isSuperuser) return sql`TRUE`;
    return sql`${ident(alias, 'id')} IN (${heldObjects(definition.type, role, actor)})`;
  }

  /** Adds an edge: holders of `parent` hold `child`. @returns whether it would close a cycle */
  async addEdge(parent: number, child: number, via: 'team'): Promise<'added' | 'cycle'> {
    await this.lock();
    const cycle = await this.database.row(sql`
      SELECT 1 FROM role_ancestors WHERE role_id = ${parent} AND ancestor_id = ${child}`);
    if (cycle) return 'cycle';
    await this.database.execute(sql`
      INSERT INTO role_parents (child_id, parent_id, via) VALUES (${child}, ${parent}, ${via})
      ON CONFLICT DO NOTHING`);
    await this.database.execute(sql`
      INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
      SELECT up.ancestor_id, down.role_id, down.content_type, down.role_field, down.object_id
      FROM role_ancestors up CROSS JOIN role_ancestors down
      WHERE up.role_id = ${parent} AND down.ancestor_id = ${child}
      ON CONFLICT DO NOTHING`);
    return 'added';
  }

  async removeEdge(parent: number, child: number, via: 'team'): Promise<void> {
    await this.lock();
    await this.database.execute(sql`
      DELETE FROM role_parents
      WHERE child_id = ${child} AND parent_id = ${parent} AND via = ${via}`);
    await this.rebuildBelow(sql`SELECT ${child}::int`);
  }

  private async lock(): Promise<void> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${GRAPH_LOCK})`);
  }

  /** Edges that the declarations imply, for the roles of some objects. */
  private async tie(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    const edges: (readonly [number, string, string, number, string])[] = [];
    for (const { field, impliedBy = [], impliedByParent = {} } of definition.roles) {
      for (const row of rows) {
        for (const other of impliedBy) {
          edges.push([row.id, field, definition.type, row.id, other]);
        }
        for (const [name, fields] of Object.entries(impliedByParent)) {
          const reference = definition.field(name);
          const parentId = row[reference?.column ?? `${name}_id`];
          if (typeof parentId !== 'number' || !reference?.target) continue;
          for (const other of fields) {
            edges.push([row.id, field, reference.target().type, parentId, other]);
          }
        }
      }
    }
    if (edges.length === 0) return;
    const column = (index: number): unknown[] => edges.map((edge) => edge[index]);
    await this.database.execute(sql`
      INSERT INTO role_parents (child_id, parent_id, via)
      SELECT child.id, parent.id, 'implied'
      FROM unnest(${column(0)}::int[], ${column(1)}::text[], ${column(2)}::text[],
                  ${column(3)}::int[], ${column(4)}::text[])
        AS edge (object_id, role_field, parent_type, parent_object, parent_field)
      JOIN roles child ON child.content_type = ${definition.type}
        AND child.object_id = edge.object_id AND child.role_field = edge.role_field
      JOIN roles parent ON parent.content_type = edge.parent_type
        AND parent.object_id = edge.parent_object AND parent.role_field = edge.parent_field
      ON CONFLICT DO NOTHING`);
  }

  private rebuildBelow(ids: Sql): Promise<void> {
    return this.rebuild(sql`
      SELECT role_id FROM role_ancestors WHERE ancestor_id IN (${ids}) UNION ${ids}`);
  }

  /** Writes the closure of the given roles anew from the edges. */
  private async rebuild(ids: Sql): Promise<void> {
    await this.database.execute(sql`
      WITH RECURSIVE affected AS MATERIALIZED (SELECT id FROM roles WHERE id IN (${ids})),
      up (role_id, ancestor_id) AS (
        SELECT id, id FROM affected
        UNION
        SELECT up.role_id, edge.parent_id
        FROM up JOIN role_parents edge ON edge.child_id = up.ancestor_id
      ),
      stale AS (
        DELETE FROM role_ancestors old USING affected
        WHERE old.role_id = affected.id
          AND NOT EXISTS (SELECT 1 FROM up WHERE up.role_id = old.role_id
                          AND up.ancestor_id = old.ancestor_id)
      )
      INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
      SELECT up.ancestor_id, role.id, role.content_type, role.role_field, role.object_id
      FROM up JOIN roles role ON role.id = up.role_id
      ON CONFLICT DO NOTHING`);
  }
}
