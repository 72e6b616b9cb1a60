import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { and, NO_IDS, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { copyPreferredGroups } from '../instances/instance-groups.repository.js';
import { countHostNames } from './hosts.repository.js';
import { membersOf, type HostedInventory } from './inventory-members.js';
import { Inventory } from './inventory.entity.js';

/** Redis channel of deletions of inventories; a message is a JSON list of their ids. */
export const INVENTORY_CHANNEL = 'inventories:deleted';

/** A locked inventory, with the fields that a change of its members requires. */
export interface LockedInventory {
  id: number;
  kind: string;
  total_hosts: number;
  pending_deletion: boolean;
}

/** An inventory with the fields for Ansible's inventory. */
export interface DescribedInventory extends HostedInventory {
  variables: string;
}

/** An inventory of a launch. */
export interface UsableInventory extends HostedInventory {
  name: string;
  pending_deletion: boolean;
  total_hosts: number;
  may_use: boolean;
}

/** Returns the SQL condition that runs on an inventory do not use the groups of its organization. */
export const inventoryExcludesGroups = (id: Sql): Sql => sql`
  coalesce((SELECT prevent_instance_group_fallback FROM inventories WHERE id = ${id}), false)`;

/**
 * Returns the number of hosts of an inventory, as SQL; null without an inventory, and for smart inventories,
 * whose hosts are not counted.
 */
export const totalHostsOf = (id: Sql): Sql => sql`
  (SELECT total_hosts FROM inventories WHERE id = ${id} AND kind <> 'smart')`;

/** Returns a query for inventories, for joins in statements about other tables. */
export const allInventories = (): Sql =>
  sql`SELECT id, name, kind, organization_id FROM inventories`;

/**
 * Returns a query for the ids of the inventories whose runs can reach the hosts of an inventory: itself, and the
 * smart inventories of its organization.
 */
export const inventoriesReaching = (id: number): Sql => sql`
  SELECT id FROM inventories WHERE id = ${id}
    OR kind = 'smart' AND organization_id = (${organizationOfInventory(id)})`;

/** Returns a query for the organization of an inventory. */
export const organizationOfInventory = (id: number): Sql => sql`
  SELECT organization_id FROM inventories WHERE id = ${id}`;

/**
 * Returns a query for the number of hosts of some organizations: `organization_id`, `total`. Hosts
 * with the same name count once. If only one inventory has hosts, its stored counter is used.
 *
 * @param condition condition on `t` for the inventories that count
 */
export const countHostsOf = (organizations: readonly number[], condition: Sql): Sql => sql`
  SELECT t.organization_id, CASE WHEN count(*) = 1 THEN sum(t.total_hosts)::int
    ELSE ${countHostNames(sql`array_agg(t.id)`)} END AS total
  FROM inventories t
  WHERE ${and(
    sql`t.organization_id = ANY(${organizations}::int[])`,
    sql`t.total_hosts > 0`,
    condition,
  )} GROUP BY t.organization_id`;

@Injectable()
export class InventoriesRepository extends TableRepository<RowOf<Inventory>> {
  constructor(@InjectRepository(Inventory) repository: Repository<Inventory>) {
    super(repository);
  }

  /** Copies the instance groups of an inventory to its copy, except groups that the caller may not use. */
  async copyInstanceGroups(original: number, copy: number, actor: Actor): Promise<void> {
    await this.database.execute(copyPreferredGroups('inventory', { original, copy }, actor));
  }

  /** Returns an inventory by its id; undefined if it is missing or being deleted. */
  described(id: number): Promise<DescribedInventory | undefined> {
    return this.database.row<DescribedInventory & Record<string, unknown>>(sql`
      SELECT id, kind, organization_id, host_filter, variables
      FROM inventories WHERE id = ${id} AND NOT pending_deletion`);
  }

  /** Returns the smart inventories of an inventory's organization. */
  smartSiblings(inventoryId: number): Promise<HostedInventory[]> {
    return this.database.rows<HostedInventory & Record<string, unknown>>(sql`
      SELECT id, kind, organization_id, host_filter FROM inventories
      WHERE kind = 'smart' AND NOT pending_deletion
        AND organization_id = (SELECT organization_id FROM inventories WHERE id = ${inventoryId})`);
  }

  /**
   * Returns inventories with the fields that launches need, and locks them against deletion; smart
   * inventories have no stored `total_hosts`.
   *
   * @param actor caller; null: no permission check
   * @param further query for further ids
   */
  usable(
    ids: readonly number[],
    actor: Actor | null,
    further = NO_IDS,
  ): Promise<UsableInventory[]> {
    return this.database.preparedRows<UsableInventory & Record<string, unknown>>(sql`
      SELECT i.id, i.name, i.kind, i.organization_id, i.host_filter, i.pending_deletion,
        i.total_hosts,
        (${permitOrAny('inventory', 'use', 'i', actor)}) AS may_use
      FROM inventories i WHERE i.id = ANY(${ids}::int[] || ARRAY(${further})) FOR KEY SHARE OF i`);
  }

  /**
   * Locks inventories until the transaction ends, in the order of ids. Deleted inventories are missing.
   */
  lock(ids: readonly number[]): Promise<LockedInventory[]> {
    return this.lockWhere(sql`t.id = ANY(${ids}::int[])`);
  }

  /** Locks the inventories of hosts, like `lock`, as far as the caller can read them. */
  lockOfHosts(hostIds: readonly number[], actor: Actor): Promise<LockedInventory[]> {
    return this.lockWhere(sql`
      t.id IN (SELECT inventory_id FROM hosts WHERE id = ANY(${hostIds}::int[]))
        AND ${permit(resource('inventory').policy, 'read', 't', actor)}`);
  }

  private lockWhere(condition: Sql): Promise<LockedInventory[]> {
    return this.database.preparedRows<LockedInventory>(sql`
      SELECT id, kind, total_hosts, pending_deletion FROM inventories t
      WHERE ${condition} ORDER BY id FOR NO KEY UPDATE OF t`);
  }

  /** Returns the inventories of an organization, locked for their deletion with the organization. */
  lockOfOrganization(id: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM inventories WHERE organization_id = ${id} ORDER BY id FOR UPDATE`);
  }

  /** Returns the organization of an inventory; null if there is none. */
  async organizationOf(id: number | null): Promise<number | null> {
    if (id === null) return null;
    const row = await this.database.row<{ organization_id: number }>(organizationOfInventory(id));
    return row?.organization_id ?? null;
  }

  /** Returns those names that are names of enabled hosts or of groups of an inventory. */
  async membersNamed(id: number | null, names: readonly string[]): Promise<Set<string>> {
    const inventory = id === null || names.length === 0 ? undefined : await this.described(id);
    if (!inventory) return new Set();
    const rows = await this.database.rows<{ name: string }>(sql`
      SELECT t.name FROM hosts t
      WHERE ${membersOf(inventory, 't')} AND t.name = ANY(${names}::text[]) AND t.enabled
      UNION SELECT name FROM groups
      WHERE inventory_id = ${inventory.id} AND name = ANY(${names}::text[])`);
    return new Set(rows.map(({ name }) => name));
  }

  /**
   * Returns the number of hosts in an organization's inventories; a name in two inventories counts
   * twice.
   */
  async totalHosts(organizationId: number): Promise<number> {
    const { hosts } = await this.database.rowOrFail<{ hosts: number }>(sql`
      SELECT COALESCE(sum(total_hosts), 0)::int AS hosts FROM inventories
      WHERE organization_id = ${organizationId}`);
    return hosts;
  }

  async markForDeletion(id: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE inventories SET pending_deletion = true, modified = now() WHERE id = ${id}`);
  }

  /** Returns those inventories of a list that are being deleted and that the reader may read. */
  async pendingAmong(ids: readonly number[], reader: Actor): Promise<Set<number>> {
    const found = await this.database.ids(sql`
      SELECT t.id FROM inventories t WHERE t.id = ANY(${ids}::int[]) AND t.pending_deletion
        AND (${permit(resource('inventory').policy, 'read', 't', reader)})`);
    return new Set(found);
  }
}
