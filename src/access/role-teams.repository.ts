import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { RoleTeam } from './role.entity.js';

/** Role that a team was granted. */
export interface TeamGrant extends RoleTeam {
  role_field: string;
}

/**
 * Returns the query for the ids of the teams that were granted one of the roles.
 *
 * @param roles query for the ids of the roles
 */
export const teamsGranted = (roles: Sql): Sql => sql`
  SELECT rt.team_id FROM role_teams rt WHERE rt.role_id IN (${roles})`;

/** Returns the query for the ids of the roles that a team was granted. */
export const rolesGrantedToTeam = (team: number): Sql => rolesGrantedToTeams([team]);

/** Returns the query for the ids of the roles that any of the teams was granted. */
export const rolesGrantedToTeams = (teams: readonly number[]): Sql => sql`
  SELECT rt.role_id FROM role_teams rt WHERE rt.team_id = ANY(${teams}::int[])`;

@Injectable()
export class RoleTeamsRepository extends TableRepository<RoleTeam> {
  constructor(@InjectRepository(RoleTeam) repository: Repository<RoleTeam>) {
    super(repository);
  }

  /** @returns true if the team did not hold the role before */
  async grant(role: number, team: number): Promise<boolean> {
    return this.database.affects(sql`
      INSERT INTO role_teams (role_id, team_id) VALUES (${role}, ${team}) ON CONFLICT DO NOTHING`);
  }

  /** @returns true if the team held the role */
  async revoke(role: number, team: number): Promise<boolean> {
    const { affected } = await this.delete({ role_id: role, team_id: team });
    return affected === 1;
  }

  /** Returns the roles that teams were granted on an object. */
  grantsOn(type: string, object: number): Promise<TeamGrant[]> {
    return this.database.rows<TeamGrant>(sql`
      SELECT rt.role_id, rt.team_id, r.role_field
      FROM roles r JOIN role_teams rt ON rt.role_id = r.id
      WHERE r.content_type = ${type} AND r.object_id = ${object}
      ORDER BY rt.team_id, rt.role_id`);
  }

  /** Returns the roles that the teams were granted on any object. */
  grantsTo(teams: readonly number[]): Promise<RoleTeam[]> {
    return this.database.rows<RoleTeam>(sql`
      SELECT rt.role_id, rt.team_id FROM role_teams rt WHERE rt.team_id = ANY(${teams}::int[])
      ORDER BY rt.team_id, rt.role_id`);
  }
}
