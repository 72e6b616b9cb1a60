import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { heldObjects } from './role-ancestors.repository.js';
import type { RoleRow } from './roles.repository.js';
import { TeamStore } from './team-store.js';
import { RoleMember } from './role.entity.js';

/** Role that gives a user access to an object, and the team through which the user holds it. */
export interface Access {
  user_id: number;
  role_id: number;
  role_field: string;
  content_type: string;
  object_id: number;
  /** Roles of the object that the role implies, by field. */
  descendants: string[];
  team_id: number | null;
  team_name: string | null;
  team_organization_name: string | null;
}

/**
 * Returns the query for the ids of the users who were granted one of the roles.
 *
 * @param roles query for the ids of the roles
 */
export const usersGranted = (roles: Sql): Sql => sql`
  SELECT mem.user_id FROM role_members mem WHERE mem.role_id IN (${roles})`;

/** Returns the query for the ids of the roles that a user was granted. */
export const rolesGrantedToUser = (user: number): Sql => sql`
  SELECT mem.role_id FROM role_members mem WHERE mem.user_id = ${user}`;

/** Roles that users hold directly. */
@Injectable()
export class RoleMembersRepository extends TableRepository<RoleMember> {
  constructor(
    @InjectRepository(RoleMember) repository: Repository<RoleMember>,
    private readonly teams: TeamStore,
  ) {
    super(repository);
  }

  /**
   * Grants a role. A manual grant replaces the grant of an authenticator, and never the reverse.
   *
   * @param authenticator authenticator whose maps grant the role; null for a manual grant
   * @returns true if the user did not hold the role in this way before
   */
  async grant(role: number, user: number, authenticator: number | null): Promise<boolean> {
    return this.database.affects(sql`
      INSERT INTO role_members AS mem (role_id, user_id, authenticator_id)
      VALUES (${role}, ${user}, ${authenticator}::integer)
      ON CONFLICT (role_id, user_id) DO UPDATE SET authenticator_id = NULL
      WHERE mem.authenticator_id IS NOT NULL AND EXCLUDED.authenticator_id IS NULL`);
  }

  /**
   * Returns the roles of a user that the maps of an authenticator granted, and locks the grants: a
   * simultaneous manual grant waits, so that the authenticator does not revoke it.
   */
  grantedBy(authenticator: number, user: number): Promise<RoleRow[]> {
    return this.database.rows<RoleRow>(sql`
      SELECT r.* FROM role_members mem JOIN roles r ON r.id = mem.role_id
      WHERE mem.authenticator_id = ${authenticator} AND mem.user_id = ${user} ORDER BY r.id
      FOR UPDATE OF mem`);
  }

  /** @returns true if the user held the role */
  async revoke(role: number, user: number): Promise<boolean> {
    const { affected } = await this.delete({ role_id: role, user_id: user });
    return affected === 1;
  }

  /** Grants a user the admin role of an object, unless the user already holds it by implication. */
  async grantAdmin(type: string, object: number, user: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO role_members (role_id, user_id)
      SELECT id, ${user} FROM roles
      WHERE content_type = ${type} AND object_id = ${object} AND role_field = 'admin_role'
        AND object_id NOT IN (${heldObjects(type, 'admin_role', { id: user })})
      ON CONFLICT DO NOTHING`);
  }

  /**
   * Returns every role that gives the users access to an object, ordered by role. Team names that the
   * reader cannot see are null.
   */
  accessTo(
    type: string,
    object: number,
    users: readonly number[],
    reader: Actor,
  ): Promise<Access[]> {
    return this.database.rows<Access>(sql`
      SELECT mem.user_id, r.id AS role_id, r.role_field, r.content_type, r.object_id,
        array_agg(DISTINCT anc.role_field) AS descendants,
        team.id AS team_id, team.name AS team_name,
        team.organization_name AS team_organization_name
      FROM role_members mem
      JOIN role_ancestors anc ON anc.ancestor_id = mem.role_id
        AND anc.content_type = ${type} AND anc.object_id = ${object}
      JOIN roles own ON own.id = mem.role_id
      LEFT JOIN LATERAL (${this.teams.nameQuery(sql`own.object_id`, reader)}) team
        ON own.content_type = 'team' AND ${type !== 'team'}
      LEFT JOIN role_teams granted ON granted.team_id = team.id
        AND granted.role_id IN (SELECT up.ancestor_id FROM role_ancestors up
          WHERE up.role_id = anc.role_id)
      JOIN roles r ON r.id = COALESCE(granted.role_id, mem.role_id)
      WHERE mem.user_id = ANY(${users}::int[])
      GROUP BY mem.user_id, r.id, team.id, team.name, team.organization_name
      ORDER BY r.id`);
  }
}
