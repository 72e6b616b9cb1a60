import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import type { InstanceGroupSchema } from './instance-group.schema.js';

@Injectable()
export class InstanceGroupsRepository extends TableRepository<RowOf<InstanceGroupSchema>> {
  constructor(database: Database) {
    super(database, 'instance_groups');
  }

  /** Groups that launches name. @param actor null: all may be used */
  usable(ids: readonly number[], actor: Actor | null): Promise<{ id: number; may_use: boolean }[]> {
    return this.database.preparedRows(sql`
      SELECT g.id, (${permitOrAny('instance_group', 'use', 'g', actor)}) AS may_use
      FROM instance_groups g WHERE g.id = ANY(${ids}::int[])`);
  }
}
