import { Injectable } from '@nestjs/common';
import { zip } from '../../common/invariants.js';
import { InventoryInputsRepository } from '../../inventories/inventory-inputs.repository.js';
import { InventorySourcesRepository } from '../../inventory-sources/inventory-sources.repository.js';
import { InventoryUpdateLauncher } from '../../inventory-sources/inventory-update-launcher.service.js';
import { ProjectUpdateLauncher } from '../../projects/project-update-launcher.service.js';
import type { Launcher } from '../../runs/launcher.js';
import { previousTask } from '../../runs/run-explanations.js';
import {
  RunQueueRepository,
  type BrokenJob,
  type UnresolvedRun,
} from '../../runs/run-queue.repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { append } from '../../common/records.js';

/** Maximum number of runs per pass; a pass that reaches the limit is repeated immediately. */
const BATCH = 2000;

/**
 * Manages the updates that must finish before a run can start (docs/contract/runs.md#dependencies).
 */
@Injectable()
export class Dependencies {
  constructor(
    private readonly queue: RunQueueRepository,
    private readonly projectUpdates: ProjectUpdateLauncher,
    private readonly inputs: InventoryInputsRepository,
    private readonly sources: InventorySourcesRepository,
    private readonly inventoryUpdates: InventoryUpdateLauncher,
    private readonly transitions: RunTransitions,
  ) {}

  /**
   * Determines once for every new job and inventory update which updates the run waits for. Creates
   * missing updates: one for each project and each source, shared by all runs of this pass.
   *
   * @returns true if more runs have undetermined dependencies
   */
  async settle(): Promise<boolean> {
    const runs = await this.queue.unresolved(BATCH);
    if (runs.length === 0) return false;
    const projectUpdates = await this.projectUpdatesOf(runs);
    const inventories = await this.inventoriesOf(runs);
    const inventoryUpdates = await this.inventoryUpdatesOf([...inventories.values()].flat());
    await this.queue.storeDependencies(
      runs.map(({ id, project_id, wants_sync }) => ({
        id,
        projectUpdateId: wants_sync ? (projectUpdates.get(project_id ?? 0) ?? null) : null,
        inventoryUpdateIds: (inventories.get(id) ?? []).flatMap(
          (inventory) => inventoryUpdates.get(inventory) ?? [],
        ),
      })),
    );
    return runs.length === BATCH;
  }

  /** Ends the pending runs whose dependency did not succeed; a canceled dependency cancels the runs. */
  async endBroken(): Promise<void> {
    const broken = await this.queue.broken();
    const isCanceled = ({ status }: BrokenJob) => status === 'canceled';
    await this.transitions.move(
      broken.filter((job) => !isCanceled(job)).map((job) => withExplanation(job, 'Failed')),
      { from: ['pending'], to: 'failed' },
    );
    await this.transitions.move(
      broken.filter(isCanceled).map((job) => withExplanation(job, 'Canceled')),
      { from: ['pending'], to: 'canceled' },
    );
  }

  /** @returns the active or new sync, by project */
  private async projectUpdatesOf(runs: readonly UnresolvedRun[]): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    const missing = new Set<number>();
    for (const { wants_sync, project_id: id, active_update_id: active } of runs) {
      if (!wants_sync || id === null) continue;
      if (active === null) missing.add(id);
      else found.set(id, active);
    }
    return new Map([...found, ...(await startUpdates(this.projectUpdates, [...missing]))]);
  }

  /**
   * @returns the inventories whose sources each run updates: a job its own inventory, an update its
   *   inputs
   */
  private async inventoriesOf(runs: readonly UnresolvedRun[]): Promise<Map<number, number[]>> {
    const updated = runs.flatMap(({ type, inventory_id: id }) =>
      type === 'inventory_update' && id !== null ? [id] : [],
    );
    const pairs = updated.length > 0 ? await this.inputs.pairsOf([...new Set(updated)]) : [];
    const inputsOf = new Map<number | null, number[]>();
    for (const { inventory_id: id, input_id: input } of pairs) {
      append(inputsOf, id, input);
    }
    return new Map(
      runs.map(({ id, type, inventory_id: inventory }) => [
        id,
        type === 'job' ? (inventory === null ? [] : [inventory]) : (inputsOf.get(inventory) ?? []),
      ]),
    );
  }

  /** @returns active or new updates, by inventory */
  private async inventoryUpdatesOf(wanted: readonly number[]): Promise<Map<number, number[]>> {
    const inventories = [...new Set(wanted)];
    if (inventories.length === 0) return new Map();
    const due = await this.sources.due(inventories);
    const missing = due.filter(({ active_update_id: active }) => active === null);
    const created = await startUpdates(
      this.inventoryUpdates,
      missing.map(({ source_id: id }) => id),
    );
    const updates = new Map<number, number[]>();
    for (const { inventory_id: inventory, source_id: source, active_update_id: active } of due) {
      const id = active ?? created.get(source);
      if (id !== undefined) append(updates, inventory, id);
    }
    return updates;
  }
}

/** @returns the new updates by template, without templates that were deleted meanwhile */
async function startUpdates(
  launcher: Launcher,
  templateIds: readonly number[],
): Promise<Map<number, number>> {
  const results = await launcher.launchPossible(
    templateIds.map((templateId) => ({ templateId, launchType: 'dependency', createdBy: null })),
  );
  return new Map(zip(templateIds, results).flatMap(([id, { run }]) => (run ? [[id, run.id]] : [])));
}

const withExplanation = (job: BrokenJob, end: 'Failed' | 'Canceled') => ({
  id: job.id,
  explanation: previousTask(end, { type: job.type, name: job.name, id: job.dependency_id }),
});
