import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { Database } from '../database/database.js';
import type { ColumnValues } from '../database/rows.js';
import { ProjectUpdatesRepository } from '../projects/project-updates.repository.js';
import { projectUpdates } from '../projects/project-updates.resource.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { reportsTo, type LaunchWebhook } from '../runs/webhook-run.schema.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { LaunchType } from '../runs/unified-job.schema.js';

/** Starts project updates on behalf of a user or a webhook. */
@Injectable()
export class ProjectUpdateLaunches extends ProjectSyncs {
  constructor(
    private readonly database: Database,
    private readonly updates: ProjectUpdatesRepository,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {
    super();
  }

  start(projectIds: readonly number[], actor: Actor): Promise<number[]> {
    // The id is 0 when the first administrator and the demo data are created, before any user
    // exists.
    const author = actor.id === 0 ? null : actor.id;
    return this.create(projectIds, 'manual', { created_by_id: author, modified_by_id: author });
  }

  async startByWebhook(projectId: number, webhook: LaunchWebhook): Promise<number | null> {
    const origin = {
      webhook_service: webhook.service,
      webhook_credential_id: webhook.credentialId,
      webhook_guid: webhook.guid,
      webhook_delivery_id: webhook.deliveryId,
    };
    const [id] = await this.create([projectId], 'webhook', origin, reportsTo(webhook));
    return id ?? null;
  }

  /**
   * @param origin columns with the user or event that requested the updates
   * @param codeHost code host that receives status posts; null: none
   */
  private create(
    projectIds: readonly number[],
    launchType: LaunchType,
    origin: ColumnValues,
    codeHost: string | null = null,
  ): Promise<number[]> {
    return this.database.transaction(async () => {
      const made = await this.updates.insertOf(projectIds, { launchType, status: 'pending' });
      if (made.length === 0) return [];
      const ids = made.map(({ id }) => id);
      const rows = await this.updates.sign(ids, origin);
      for (const row of rows) {
        const changes = { id: row.id, name: row.name, project: row.project_id };
        this.activity.record({ operation: 'create', object1: refOf(projectUpdates, row), changes });
      }
      await this.transitions.created(made.map((run) => ({ ...run, reports_to: codeHost })));
      return ids;
    });
  }
}
