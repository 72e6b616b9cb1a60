import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { Invalid, MethodNotAllowed, type FieldErrors } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import {
  InventorySourcesRepository,
  type StartableSource,
} from './inventory-sources.repository.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { inventoryUpdates } from './inventory-updates.resource.js';

/** Result for one of several sources that were to be updated. */
export interface StartedSource {
  sourceId: number;
  /** Update of the source; null if it could not be started. */
  updateId: number | null;
}

/** Starts inventory updates on behalf of a user. */
@Injectable()
export class InventoryUpdateStarts {
  constructor(
    private readonly database: Database,
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdatesRepository,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Creates the pending update of a source.
   *
   * @returns its id
   * @throws MethodNotAllowed for a source without a project or credential that it requires, Invalid
   */
  async start(sourceId: number, actor: Actor): Promise<number> {
    const source = itemAt(await this.sources.startable([sourceId]), 0);
    if (!canUpdate(source)) throw new MethodNotAllowed('POST');
    const faults = startFaults(source);
    if (Object.keys(faults).length > 0) throw new Invalid(faults);
    return itemAt(await this.create([sourceId], actor), 0);
  }

  /** Returns for each source of an inventory if it can be updated. */
  async ofInventory(inventoryId: number): Promise<{ id: number; canUpdate: boolean }[]> {
    const sources = await this.sources.startableOf(inventoryId);
    return sources.map((source) => ({ id: source.id, canUpdate: canUpdate(source) }));
  }

  /** Creates updates of all updatable sources of an inventory. */
  async startAll(inventoryId: number, actor: Actor): Promise<StartedSource[]> {
    const sources = await this.sources.startableOf(inventoryId);
    const startable = sources.filter(
      (source) => canUpdate(source) && Object.keys(startFaults(source)).length === 0,
    );
    const ids = await this.create(
      startable.map(({ id }) => id),
      actor,
    );
    const updates = new Map(startable.map(({ id }, index) => [id, itemAt(ids, index)]));
    return sources.map(({ id }) => ({ sourceId: id, updateId: updates.get(id) ?? null }));
  }

  private create(sourceIds: readonly number[], actor: Actor): Promise<number[]> {
    if (sourceIds.length === 0) return Promise.resolve([]);
    return this.database.transaction(async () => {
      const origin = { launchType: 'manual', status: 'pending', createdBy: actor.id } as const;
      const made = await this.updates.insertOf(sourceIds, origin);
      for (const row of made) {
        const changes = { id: row.id, name: row.name, inventory_source: row.inventory_source_id };
        const object1 = refOf(inventoryUpdates, row);
        this.activity.record({ operation: 'create', object1, changes });
      }
      await this.transitions.created(made);
      return made.map(({ id }) => id);
    });
  }
}

/** Returns true if a source has the project or credential that its kind requires. */
export const canUpdate = ({ source, source_project_id, credential_id }: StartableSource): boolean =>
  (source !== 'scm' || source_project_id !== null) && (source !== 'gce' || credential_id !== null);

/**
 * Returns the reasons why an update would fail at once, caused by the present state of its project.
 */
function startFaults({ scm_branch: branch, project }: StartableSource): FieldErrors {
  if (!project) return {};
  const hasFailed = ['failed', 'error'].includes(project.status);
  if (hasFailed && !project.scm_update_on_launch) {
    return { __all__: ['Missing a revision to run due to failed project update.'] };
  }
  return branch !== '' && !project.allow_override
    ? { scm_branch: ['Project does not allow overriding branch.'] }
    : {};
}
