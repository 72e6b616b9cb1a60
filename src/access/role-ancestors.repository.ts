import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { HeldRoles, type HeldRole } from '../common/held-roles.js';
import { and, sql, TRUE, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RoleAncestor } from './role.entity.js';

/** Maximum number of held roles whose object ids are listed in a statement. */
const MAX_HELD_ROLES = 2000;

/** Selection among the roles that users hold. Omitted members match any value. */
interface HeldRoleFilter {
  user?: number | Sql | undefined;
  /** Type of the object that the role belongs to. */
  type?: string | undefined;
  role?: string | undefined;
  /** Returns the condition on the object's id. */
  object?: (id: Sql) => Sql;
}

/** Returns the query for the roles that users (`mem`) hold, directly or by implication (`anc`). */
const selectHeldRoles = (columns: Sql, { user, type, role, object }: HeldRoleFilter): Sql => sql`
  SELECT ${columns} FROM role_members mem JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
  WHERE ${and(
    user === undefined ? TRUE : sql`mem.user_id = ${user}`,
    type === undefined ? TRUE : sql`anc.content_type = ${type}`,
    role === undefined ? TRUE : sql`anc.role_field = ${role}`,
    object === undefined ? TRUE : object(sql`anc.object_id`),
  )}`;

/**
 * Returns the query for the ids of the objects of a type on which a user holds a role, directly or by
 * implication.
 */
export const heldObjects = (type: string, role: string, { id }: Pick<Actor, 'id'>): Sql =>
  selectHeldRoles(sql`anc.object_id`, { user: id, type, role });

/** Returns the query for the ids of the objects of a type on which a user holds any role. */
export const accessibleObjects = (type: string, { id }: Pick<Actor, 'id'>): Sql =>
  selectHeldRoles(sql`anc.object_id`, { user: id, type });

/**
 * Returns the query for the ids of the objects of a type on which roles give any role, directly or by implication.
 *
 * @param ids query for the ids of the roles
 */
export const objectsOfRoles = (type: string, ids: Sql): Sql => sql`
  SELECT anc.object_id FROM role_ancestors anc
  WHERE anc.content_type = ${type} AND anc.ancestor_id IN (${ids})`;

/** Returns the query for types and ids of all objects on which a user holds a role, or any role. */
export const heldObjectsOfAllTypes = ({ id }: Pick<Actor, 'id'>, role?: string): Sql =>
  selectHeldRoles(sql`anc.content_type, anc.object_id`, { user: id, role });

/**
 * Returns the query for the ids of the users who hold a role, or any role, on objects that a condition on
 * the id selects.
 */
export const usersHolding = (type: string, role: string | null, object: (id: Sql) => Sql): Sql =>
  selectHeldRoles(sql`mem.user_id`, { type, object, role: role ?? undefined });

/**
 * Returns the query for the ids of all roles that a user holds, directly or by implication, limited by a
 * condition on the id.
 */
export const rolesHeldBy = (user: number | Sql, condition: (role: Sql) => Sql = () => TRUE): Sql =>
  sql`${selectHeldRoles(sql`anc.role_id`, { user })} AND ${condition(sql`anc.role_id`)}`;

/**
 * Returns the query for the number of users who hold each role of objects, directly or by implication, as
 * `role_field`, `object_id` and `total`.
 */
export const holderCounts = (type: string, roles: readonly string[], ids: readonly number[]): Sql =>
  sql`
    SELECT anc.role_field, anc.object_id, count(DISTINCT mem.user_id)::int AS total
    FROM role_ancestors anc JOIN role_members mem ON mem.role_id = anc.ancestor_id
    WHERE anc.content_type = ${type} AND anc.role_field = ANY(${roles}::text[])
      AND anc.object_id = ANY(${ids}::int[])
    GROUP BY anc.role_field, anc.object_id`;

/** Transitive closure of the edges between roles: a holder of an ancestor also holds the role. */
@Injectable()
export class RoleAncestorsRepository extends TableRepository<RoleAncestor> {
  constructor(@InjectRepository(RoleAncestor) repository: Repository<RoleAncestor>) {
    super(repository);
  }

  /** Returns true if a user holds the role on any object, on any object of a type, or on one object. */
  async holds(user: number, role: string, type?: string, object?: number): Promise<boolean> {
    return this.database.exists(sql`
      ${selectHeldRoles(sql`1`, {
        user,
        role,
        type,
        ...(object === undefined ? {} : { object: (id) => sql`${id} = ${object}` }),
      })} LIMIT 1`);
  }

  /** Returns all roles that a user holds, or null if they are too many for a statement. */
  async heldBy(user: number): Promise<HeldRoles | null> {
    const columns = sql`anc.content_type, anc.role_field, anc.object_id`;
    // The same role, held by several others, counts several times: the limit applies before DISTINCT.
    const roles = await this.database.rows<HeldRole & { rows: number }>(sql`
      SELECT content_type, role_field, array_agg(DISTINCT object_id) AS ids, count(*)::int AS rows
      FROM (${selectHeldRoles(columns, { user, object: (id) => sql`${id} IS NOT NULL` })}
            LIMIT ${MAX_HELD_ROLES + 1}) every
      GROUP BY content_type, role_field`);
    const total = roles.reduce((sum, { rows }) => sum + rows, 0);
    return total > MAX_HELD_ROLES ? null : new HeldRoles(roles);
  }

  /** Adds the closure of an edge: holders of `parent` also hold everything that `child` implies. */
  async connect(parent: number, child: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
      SELECT up.ancestor_id, down.role_id, down.content_type, down.role_field, down.object_id
      FROM role_ancestors up CROSS JOIN role_ancestors down
      WHERE up.role_id = ${parent} AND down.ancestor_id = ${child}
      ON CONFLICT DO NOTHING`);
  }

  /**
   * Rebuilds the closure of roles and of all roles that they imply.
   *
   * @param ids query for the ids of the roles
   */
  rebuildBelow(ids: Sql): Promise<void> {
    return this.rebuild(sql`
      SELECT role_id FROM role_ancestors WHERE ancestor_id IN (${ids}) UNION ${ids}`);
  }

  /**
   * Rebuilds the closure of roles from the edges.
   *
   * @param ids query for the ids of the roles
   */
  async rebuild(ids: Sql): Promise<void> {
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
