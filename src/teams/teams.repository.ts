import { Injectable } from '@nestjs/common';
import type { TeamStore } from '../access/team-store.js';
import { permit, type Actor } from '../common/access.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { organizationNameOf } from '../organizations/organizations.repository.js';
import { Team } from './team.entity.js';

@Injectable()
export class TeamsRepository extends TableRepository<RowOf<Team>> implements TeamStore {
  constructor(@InjectRepository(Team) repository: Repository<Team>) {
    super(repository);
  }

  async referenced(id: number): Promise<RowOf<Team>> {
    return this.database.rowOrFail<RowOf<Team>>(sql`SELECT * FROM teams WHERE id = ${id}`);
  }

  nameQuery(id: Sql, reader: Actor): Sql {
    const isReadable = permit(resource('team').policy, 'read', 'tm', reader);
    return sql`
      SELECT tm.id, CASE WHEN ${isReadable} THEN tm.name END AS name,
        ${organizationNameOf(sql`tm.organization_id`, reader)} AS organization_name
      FROM teams tm WHERE tm.id = ${id}`;
  }

  outsideOrganization(ids: Sql, organization: number | null): Sql {
    return sql`
      SELECT tm.id FROM teams tm
      WHERE tm.id IN (${ids}) AND tm.organization_id IS DISTINCT FROM ${organization}::int`;
  }
}
