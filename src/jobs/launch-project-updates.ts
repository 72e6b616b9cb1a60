import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { projectUpdates } from '../projects/project-updates.resource.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { insertProjectUpdates } from './project-update-rows.js';
import { RunTransitions, type NewRun } from './transitions.js';

/** Starts project updates on behalf of a user. */
@Injectable()
export class ProjectUpdateLaunches extends ProjectSyncs {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {
    super();
  }

  start(projectIds: readonly number[], actor: Actor): Promise<number[]> {
    return this.database.transaction(async () => {
      const made = await this.database.rows<NewRun & Record<string, unknown>>(
        insertProjectUpdates(projectIds, { launchType: 'manual', status: 'pending' }),
      );
      if (made.length === 0) return [];
      const ids = made.map(({ id }) => id);
      // The first administrator is made, and the demo data with it, before there is a user.
      const author = actor.id === 0 ? null : actor.id;
      const rows = await this.database.rows<Row>(sql`
        UPDATE unified_jobs SET created_by_id = ${author}, modified_by_id = ${author}
        WHERE id = ANY(${ids}::int[]) RETURNING id, name, organization_id, project_id`);
      for (const row of rows) {
        const changes = { id: row.id, name: row.name, project: row.project_id };
        this.activity.record({ operation: 'create', object1: refOf(projectUpdates, row), changes });
      }
      await this.transitions.created(made);
      return ids;
    });
  }
}
