import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { existing } from '../common/invariants.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { Database } from '../database/database.js';
import { and, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { countHostNames } from './hosts.repository.js';
import type { InventorySchema } from './inventory.schema.js';

/** An inventory as those who change what is in it find it, under the lock. */
export interface HeldInventory {
  id: number;
  total_hosts: number;
  pending_deletion: boolean;
}

/** An inventory that a launch names. */
export interface UsableInventory {
  id: number;
  name: string;
  pending_deletion: boolean;
  total_hosts: number;
  may_use: boolean;
}

/** Query for inventories as other tables' statements join them. */
export const allInventories = (): Sql =>
  sql`SELECT id, name, kind, organization_id FROM inventories`;

/** Query for the organization of an inventory. */
export const organizationOfInventory = (id: number): Sql => sql`
  SELECT organization_id FROM inventories WHERE id = ${id}`;

/**
 * Query for how many hosts some organizations have: `organization_id`, `total`. Hosts of one name are
 * one; where a single inventory has any, its counter knows without looking.
 *
 * @param condition which inventories count, on `t`
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
export class InventoriesRepository extends TableRepository<RowOf<InventorySchema>> {
  constructor(database: Database) {
    super(database, 'inventories');
  }

  /** Variables of an inventory; null when there is none, or it is being deleted. */
  async variablesOf(id: number): Promise<string | null> {
    const row = await this.database.row<{ variables: string }>(sql`
      SELECT variables FROM inventories WHERE id = ${id} AND NOT pending_deletion`);
    return row?.variables ?? null;
  }

  /** Inventories as launches need them. @param actor null: everything may be used */
  usable(ids: readonly number[], actor: Actor | null): Promise<UsableInventory[]> {
    return this.database.preparedRows<UsableInventory>(sql`
      SELECT i.id, i.name, i.pending_deletion, i.total_hosts,
        (${permitOrAny('inventory', 'use', 'i', actor)}) AS may_use
      FROM inventories i WHERE i.id = ANY(${ids}::int[])`);
  }

  /** Locks inventories until the transaction ends, always in one order; those that are gone are missing. */
  hold(ids: readonly number[]): Promise<HeldInventory[]> {
    return this.database.rows<HeldInventory>(sql`
      SELECT id, total_hosts, pending_deletion FROM inventories
      WHERE id = ANY(${ids}::int[]) ORDER BY id FOR NO KEY UPDATE`);
  }

  /** How many hosts the inventories of an organization have; one of a name in two counts twice. */
  async totalHosts(organizationId: number): Promise<number> {
    const row = await this.database.row<{ hosts: number }>(sql`
      SELECT COALESCE(sum(total_hosts), 0)::int AS hosts FROM inventories
      WHERE organization_id = ${organizationId}`);
    return existing(row, 'an aggregate has a row').hosts;
  }

  async markForDeletion(id: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE inventories SET pending_deletion = true, modified = now() WHERE id = ${id}`);
  }

  isPending(id: number): Promise<boolean> {
    return this.existsBy({ id, pending_deletion: true });
  }

  async removePending(id: number): Promise<void> {
    await this.delete({ id, pending_deletion: true });
  }
}
