import type { Actor } from '../common/access.js';
import type { Sql } from '../database/sql.js';

/** The templates that use inventories, a room above, which implements it. */
export abstract class InventoryTemplates {
  /** Leaves templates without an inventory that is going; its sources go with it. */
  abstract forgetInventory(id: number): Promise<void>;
}

/** The source that each constructed inventory has, a room above, which implements it. */
export abstract class ConstructedSources {
  /** Makes the source of an inventory that was just made. */
  abstract makeFor(inventory: { id: number; name: string }, actor: Actor): Promise<void>;

  /** Gives the source of a copy what can be changed of its original's. */
  abstract copyOptions(original: number, copy: number): Promise<void>;
}

/** The runs that touched hosts, a room above, which implements it. */
export abstract class HostRuns {
  /**
   * Query for the latest jobs that touched a host, as far as the caller may read them: `id`, `name`,
   * `status` and `finished`.
   */
  abstract latestOfHost(host: Sql, actor: Actor, most: number): Sql;
}
