import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Sql } from '../database/sql.js';

/** Templates that use inventories; implemented by a later feature. */
export abstract class InventoryTemplates {
  /**
   * Removes an inventory that is being deleted from its job templates, and deletes its sources.
   *
   * @returns the job templates
   */
  abstract removeInventory(id: number): Promise<Row[]>;

  /** Moves the sources of an inventory to the inventory's new organization. */
  abstract moveSources(inventoryId: number, organizationId: number): Promise<void>;
}

/** The sources of constructed inventories, and updates of inventories; implemented by a later feature. */
export abstract class ConstructedSources {
  /** Creates the source of a new inventory. */
  abstract createFor(inventory: { id: number; name: string }, actor: Actor): Promise<void>;

  /** Copies the editable options of an inventory's source to the source of its copy. */
  abstract copyOptions(original: number, copy: number): Promise<void>;

  /**
   * Deletes up to `max` events of updates of an inventory that is being deleted, or updates without events.
   *
   * @returns the number of deleted rows; 0 if no update is left
   */
  abstract removeUpdates(inventoryId: number, max: number): Promise<number>;
}

/** Runs on hosts; implemented by a later feature. */
export abstract class HostRuns {
  /**
   * Returns a query for the latest jobs of a host that the caller can read: `id`, `name`, `status`
   * and `finished`.
   */
  abstract latestOfHost(host: Sql, actor: Actor, limit: number): Sql;
}
