import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { zip } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { startedBy, type LaunchCheck, type RunRequest } from '../runs/launcher.js';
import { missingRevision } from '../runs/run-explanations.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { planOf, UpdateLauncher, type NewUpdate } from '../runs/update-launcher.js';
import {
  InventorySourcesRepository,
  type StartableSource,
} from './inventory-sources.repository.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';

/** Result for one of several sources that were to be updated. */
export interface StartedSource {
  sourceId: number;
  /** Update of the source; null if it could not be started. */
  updateId: number | null;
}

@Injectable()
export class InventoryUpdateLauncher extends UpdateLauncher {
  protected readonly templateField = 'inventory_source';
  protected readonly noUpdate = 'The inventory source was deleted.';

  constructor(
    database: Database,
    transitions: RunTransitions,
    activity: ActivityRecorder,
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdatesRepository,
  ) {
    super(database, transitions, activity);
  }

  /**
   * Plans updates. A request of a user is rejected if its update would fail. An automatic update is
   * created anyway, and its explanation contains the reason of the failure.
   */
  override async plan(
    requests: readonly RunRequest[],
    actor: Actor | null,
  ): Promise<LaunchCheck[]> {
    if (actor === null) return super.plan(requests, actor);
    const found = await this.sources.startable(requests.map(({ templateId }) => templateId));
    const sources = new Map(found.map((source) => [source.id, source]));
    return requests.map((request) => planOf(request, startErrors(sources.get(request.templateId))));
  }

  /** Creates updates of all updatable sources of an inventory. */
  async launchAll(inventoryId: number, actor: Actor): Promise<StartedSource[]> {
    const sources = await this.sources.startableOf(inventoryId);
    const plans = sources.map((source) =>
      planOf({ templateId: source.id, ...startedBy(actor) }, startErrors(source)),
    );
    return zip(sources, await this.startPossible(plans)).map(([{ id: sourceId }, { run }]) => ({
      sourceId,
      updateId: run?.id ?? null,
    }));
  }

  protected insert(requests: readonly RunRequest[]): Promise<NewUpdate[]> {
    return this.updates.insertOf(requests);
  }
}

/** Returns true if a source has the project or credential that its kind requires. */
export const canUpdate = ({
  source,
  source_project_id: project,
  credential_id: credential,
}: Pick<StartableSource, 'source' | 'source_project_id' | 'credential_id'>): boolean =>
  (source !== 'scm' || project !== null) && (source !== 'gce' || credential !== null);

/** Returns the reasons why an update would fail immediately; none for a deleted source. */
function startErrors(source: StartableSource | undefined): FieldErrors {
  if (!source) return {};
  if (!canUpdate(source)) {
    return { __all__: ['The source lacks the project or credential that an update requires.'] };
  }
  const { scm_branch: branch, project } = source;
  if (!project) return {};
  const hasFailed = ['failed', 'error'].includes(project.status);
  if (hasFailed && !project.scm_update_on_launch) {
    return { __all__: [missingRevision(project.has_invalid_signature)] };
  }
  return branch !== '' && !project.allow_override
    ? { scm_branch: ['Project does not allow overriding branch.'] }
    : {};
}
