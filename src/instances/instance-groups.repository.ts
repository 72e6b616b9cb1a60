import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { InstanceGroup } from './instance-group.entity.js';

/** Name of the group that contains every worker and executes every run. */
export const DEFAULT_GROUP = 'default';

/** An instance group of a launch or of its template. */
export interface UsableInstanceGroup {
  id: number;
  name: string;
  may_use: boolean;
}

/** Returns a query for the groups of a machine. */
export const groupsOf = (instance: Sql): Sql => sql`
  SELECT id FROM instance_groups WHERE name = ${DEFAULT_GROUP}
  UNION ALL SELECT instance_group_id FROM instance_group_instances WHERE instance_id = ${instance}`;

/** Returns a query for the number of machines in each of some groups: `id`, `instances`. */
export const membersOfGroups = (ids: readonly number[]): Sql => sql`
  SELECT instance_group_id AS id, count(*)::int AS instances
  FROM instance_group_instances WHERE instance_group_id = ANY(${ids}::int[])
  GROUP BY instance_group_id`;

@Injectable()
export class InstanceGroupsRepository extends TableRepository<RowOf<InstanceGroup>> {
  constructor(@InjectRepository(InstanceGroup) repository: Repository<InstanceGroup>) {
    super(repository);
  }

  /**
   * Returns groups with the fields that launches need.
   *
   * @param actor caller; null: no permission check
   */
  usable(ids: readonly number[], actor: Actor | null): Promise<UsableInstanceGroup[]> {
    return this.database.preparedRows<UsableInstanceGroup>(sql`
      SELECT g.id, g.name, (${permitOrAny('instance_group', 'use', 'g', actor)}) AS may_use
      FROM instance_groups g WHERE g.id = ANY(${ids}::int[])`);
  }
}
