import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
// The runner owns the shape of the inventory document; what is stored here is what it is built from.
import type { GroupRow, HostRow, InventoryRows as Rows } from './ansible-inventory.js';

/** Loads inventories in the form the inventory document is built from. */
@Injectable()
export class InventoryRows {
  constructor(private readonly database: Database) {}

  /**
   * All of one inventory in five statements, disabled hosts included and marked.
   *
   * @returns null when there is no such inventory, or when it is being deleted
   */
  async load(inventoryId: number): Promise<Rows | null> {
    const inventory = await this.database.row<{ variables: string }>(sql`
      SELECT variables FROM inventories WHERE id = ${inventoryId} AND NOT pending_deletion`);
    if (!inventory) return null;
    const groups = await this.database.rows<GroupRow & Record<string, unknown>>(sql`
      SELECT id, name, variables FROM groups WHERE inventory_id = ${inventoryId}`);
    const hosts = await this.database.rows<HostRow & Record<string, unknown>>(sql`
      SELECT id, name, variables, enabled FROM hosts WHERE inventory_id = ${inventoryId}`);
    const groupIds = groups.map(({ id }) => id);
    const groupHosts = await this.database.rows<{ groupId: number; hostId: number }>(sql`
      SELECT group_id AS "groupId", host_id AS "hostId" FROM group_hosts
      WHERE group_id = ANY(${groupIds}::int[])`);
    const groupChildren = await this.database.rows<{ parentId: number; childId: number }>(sql`
      SELECT parent_id AS "parentId", child_id AS "childId" FROM group_children
      WHERE parent_id = ANY(${groupIds}::int[])`);
    return { variables: inventory.variables, groups, hosts, groupHosts, groupChildren };
  }

  /** One host of an inventory by its name, as the document knows hosts. */
  async host(inventoryId: number, name: string): Promise<HostRow | null> {
    const host = await this.database.row<HostRow & Record<string, unknown>>(sql`
      SELECT id, name, variables, enabled FROM hosts
      WHERE inventory_id = ${inventoryId} AND name = ${name}`);
    return host ?? null;
  }
}
