import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';

export interface RoleTeamRow {
  role_id: number;
  team_id: number;
}

/** Ids of the teams that were granted one of some roles. @param roles query for the ids of the roles */
export const teamsGranted = (roles: Sql): Sql => sql`
  SELECT rt.team_id FROM role_teams rt WHERE rt.role_id IN (${roles})`;

/** Ids of the roles that a team was granted. */
export const rolesGrantedTo = (team: number): Sql => sql`
  SELECT rt.role_id FROM role_teams rt WHERE rt.team_id = ${team}`;

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
}
