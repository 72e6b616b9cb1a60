import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { MethodNotAllowed } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { isOneOf } from '../common/records.js';
import { ACTIVE_STATUSES } from './state-machine.js';
import { RunTransitions } from './run-transitions.service.js';

export const isActive = ({ status }: Row): boolean => isOneOf(ACTIVE_STATUSES, status);

/** Cancels runs of any kind on behalf of a user (docs/contract/runs.md#cancel). */
@Injectable()
export class CancelService {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Immediately cancels a run that has not started; requests the cancellation of a running run from its worker.
   *
   * @throws MethodNotAllowed for a finished run
   */
  async cancel(definition: ResourceDefinition, target: Row, actor: Actor): Promise<void> {
    return this.database.transaction(async () => {
      const run = await this.resources.lock(definition, target, actor);
      if (!isActive(run)) throw new MethodNotAllowed('POST');
      const canceled = await this.transitions.cancel([run.id]);
      if (canceled.length > 0) {
        this.activity.recordUpdate(definition, run, {
          id: run.id,
          cancel_requested: [false, true],
        });
      }
    });
  }
}
