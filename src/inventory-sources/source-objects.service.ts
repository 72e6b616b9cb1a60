import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import {
  ImportedObjectsRepository,
  type ImportedKind,
} from '../inventories/import/imported-objects.repository.js';
import { InventoryLock } from '../inventories/inventory-lock.service.js';
import { inventorySources } from './inventory-sources.resource.js';

/**
 * Deletes all objects that a source delivered to its inventory
 * (docs/contract/inventory-sources.md#fields).
 */
@Injectable()
export class SourceObjects {
  constructor(
    private readonly database: Database,
    private readonly objects: ImportedObjectsRepository,
    private readonly inventory: InventoryLock,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * @throws Conflict if an active run uses the inventory; BadRequest for an inventory that is constructed or
   *   being deleted
   */
  async remove(source: Row, kind: ImportedKind): Promise<void> {
    const inventoryId = Number(source.inventory_id);
    const noun = kind === 'hosts' ? 'host' : 'group';
    await this.database.transaction(async () => {
      await this.inventory.lockForChange(inventoryId, noun, 'Delete');
      await this.inventory.assertIdle(inventoryId);
      await this.database.prepareDeletion();
      const removed = await this.objects.removeImported(kind, source.id);
      this.activity.recordUpdate(inventorySources, source, {
        id: source.id,
        [`${kind}_deleted`]: removed,
      });
    });
  }
}
