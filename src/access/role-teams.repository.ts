import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

export interface RoleTeamRow {
  role_id: number;
  team_id: number;
}

/** A role that a team was granted. */
export interface TeamGrant extends RoleTeamRow {
  role_field: string;
}

/** Ids of the teams that were granted one of some roles. @param roles query for the ids of the roles */
export const teamsGranted = (roles: Sql): Sql => sql`
  SELECT rt.team_id FROM role_teams rt WHERE rt.role_id IN (${roles})`;

/** Ids of the roles that a team was granted. */
export const rolesGrantedTo = (team: number): Sql => rolesGrantedToAny([team]);

/** Ids of the roles that some teams were granted. */
export const rolesGrantedToAny = (teams: readonly number[]): Sql => sql`
  SELECT rt.role_id FROM role_teams rt WHERE rt.team_id = ANY(${teams}::int[])`;

/** The grants of roles to teams. */
@Injectable()
export class RoleTeamsRepository extends TableRepository<RoleTeamRow> {
  constructor(database: Database) {
    super(database, 'role_teams');
  }

  /** @returns whether the team did not have the role yet */
  async grant(role: number, team: number): Promise<boolean> {
    const added = await this.database.execute(sql`
      INSERT INTO role_teams (role_id, team_id) VALUES (${role}, ${team}) ON CONFLICT DO NOTHING`);
    return added > 0;
  }

  /** @returns whether the team had the role */
  async revoke(role: number, team: number): Promise<boolean> {
    const { affected } = await this.delete({ role_id: role, team_id: team });
    return affected === 1;
  }

  /** What teams were granted on an object. */
  grantsOn(type: string, object: number): Promise<TeamGrant[]> {
    return this.database.rows<TeamGrant>(sql`
      SELECT rt.role_id, rt.team_id, r.role_field
      FROM roles r JOIN role_teams rt ON rt.role_id = r.id
      WHERE r.content_type = ${type} AND r.object_id = ${object}
      ORDER BY rt.team_id, rt.role_id`);
  }

  /** What some teams were granted on anything. */
  grantsTo(teams: readonly number[]): Promise<RoleTeamRow[]> {
    return this.database.rows<RoleTeamRow>(sql`
      SELECT rt.role_id, rt.team_id FROM role_teams rt WHERE rt.team_id = ANY(${teams}::int[])
      ORDER BY rt.team_id, rt.role_id`);
  }
}
