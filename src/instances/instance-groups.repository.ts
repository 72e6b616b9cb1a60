import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { InstanceGroupSchema } from './instance-group.schema.js';

/** An instance group that a launch names, or its template. */
export interface UsableInstanceGroup {
  id: number;
  name: string;
  may_use: boolean;
}

@Injectable()
export class InstanceGroupsRepository extends TableRepository<RowOf<InstanceGroupSchema>> {
  constructor(database: Database) {
    super(database, 'instance_groups');
  }

  /** Groups as launches need them. @param actor null: all may be used */
  usable(ids: readonly number[], actor: Actor | null): Promise<UsableInstanceGroup[]> {
    return this.database.preparedRows<UsableInstanceGroup>(sql`
      SELECT g.id, g.name, (${permitOrAny('instance_group', 'use', 'g', actor)}) AS may_use
      FROM instance_groups g WHERE g.id = ANY(${ids}::int[])`);
  }
}
