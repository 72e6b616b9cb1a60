import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { validate } from '../common/fields/validation.js';
import { columnsOf, rowChanges } from '../common/rest/changes.js';
import { organizationOfInventory } from '../inventories/inventories.repository.js';
import type { ConstructedSources } from '../inventories/inventory-uses.js';
import { sql } from '../database/sql.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { InventorySource } from './inventory-source.entity.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { inventorySources } from './inventory-sources.resource.js';
import { CONSTRUCTED } from './source-kinds.js';

const MAX_NAME_LENGTH = 512;

/**
 * Manages the single source of each constructed inventory
 * (docs/contract/constructed-inventories.md#source).
 */
@Injectable()
export class HiddenSources implements ConstructedSources {
  constructor(
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdatesRepository,
    private readonly events: JobEventsRepository,
    private readonly activity: ActivityRecorder,
  ) {}

  async createFor({ id, name }: { id: number; name: string }, actor: Actor): Promise<void> {
    const values = validate(InventorySource, {
      name: [...`Auto-created source for: ${name}`].slice(0, MAX_NAME_LENGTH).join(''),
      inventory: id,
      source: CONSTRUCTED.value,
      overwrite: true,
      overwrite_vars: true,
      update_on_launch: true,
    });
    const row = await this.sources.insertHidden({
      ...columnsOf(inventorySources, values),
      type: inventorySources.discriminator,
      organization_id: sql`(${organizationOfInventory(id)})`,
      created_by_id: actor.id,
      modified_by_id: actor.id,
    });
    const changes = rowChanges(inventorySources, row);
    this.activity.record({ operation: 'create', object1: refOf(inventorySources, row), changes });
  }

  copyOptions(original: number, copy: number): Promise<void> {
    return this.sources.copyOptions(original, copy);
  }

  async removeUpdates(inventoryId: number, max: number): Promise<number> {
    const updates = await this.updates.find({
      select: { id: true },
      where: { inventory_id: inventoryId, type: 'inventory_update' },
      take: max,
    });
    const ids = updates.map(({ id }) => id);
    if (ids.length === 0) return 0;
    // First, because an update can have a million events.
    const removed = await this.events.removeOf(ids, max);
    if (removed > 0) return removed;
    await this.updates.delete(ids);
    return ids.length;
  }
}
