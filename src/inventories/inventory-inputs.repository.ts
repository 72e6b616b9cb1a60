import { Injectable } from '@nestjs/common';
import { permit } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { and, or, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { accounts, type Account } from '../users/users.repository.js';

/** An inventory that a constructed one is made of. */
export interface InventoryInput {
  id: number;
  name: string;
}

/** An inventory, and one that it is made of. */
export interface InputPair {
  inventory_id: number;
  input_id: number;
}

/** Query for the ids of the inventories that a constructed one is made of. */
export const inputsOf = (inventoryId: Sql): Sql => sql`
  SELECT input.input_id FROM inventory_inputs input WHERE input.inventory_id = ${inventoryId}`;

/** Query for the ids of the inventories that are made of others. */
export const inventoriesWithInputs = (): Sql => sql`SELECT inventory_id FROM inventory_inputs`;

/** What constructed inventories are made of. */
@Injectable()
export class InventoryInputsRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'inventory_inputs');
  }

  /** The inputs of an inventory in their order. */
  of(inventoryId: number): Promise<InventoryInput[]> {
    return this.database.rows<InventoryInput & Row>(sql`
      SELECT inv.id, inv.name
      FROM inventory_inputs input JOIN inventories inv ON inv.id = input.input_id
      WHERE input.inventory_id = ${inventoryId} ORDER BY input.id`);
  }

  /** The inputs of several inventories. */
  pairsOf(inventoryIds: readonly number[]): Promise<InputPair[]> {
    return this.database.rows<InputPair & Record<string, unknown>>(sql`
      SELECT inventory_id, input_id FROM inventory_inputs
      WHERE inventory_id = ANY(${inventoryIds}::int[]) ORDER BY id`);
  }

  /**
   * The inputs of an inventory that nobody answers for any more, in their order: whoever attached one
   * may not use it now, or is gone.
   */
  async unanswered(inventoryId: number): Promise<InventoryInput[]> {
    const answering = await this.database.rows<Account & Row>(sql`
      SELECT acc.id, acc.username, acc.is_superuser, acc.is_system_auditor
      FROM (${accounts()}) acc WHERE acc.id IN (
        SELECT attached_by_id FROM inventory_inputs WHERE inventory_id = ${inventoryId})`);
    const mayUse = answering.map(({ id, username, is_superuser, is_system_auditor }) => {
      const actor = { id, username, isSuperuser: is_superuser, isSystemAuditor: is_system_auditor };
      const rule = permit(resource('inventory').policy, 'use', 'inv', actor);
      return and(sql`input.attached_by_id = ${id}`, rule);
    });
    return this.database.rows<InventoryInput & Row>(sql`
      SELECT inv.id, inv.name
      FROM inventory_inputs input JOIN inventories inv ON inv.id = input.input_id
      WHERE input.inventory_id = ${inventoryId} AND (${or(...mayUse)}) IS NOT TRUE
      ORDER BY input.id`);
  }

  /** Notes who answers for an input from now on. */
  async answerFor(inventoryId: number, inputId: number, userId: number): Promise<void> {
    await this.update({ inventory_id: inventoryId, input_id: inputId }, { attached_by_id: userId });
  }

  /** Gives a copy the inputs of its original, in their order. @param author who made it */
  async copy(original: number, copy: number, author: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO inventory_inputs (inventory_id, input_id, attached_by_id)
      SELECT ${copy}::int, input_id, ${author}::int
      FROM inventory_inputs WHERE inventory_id = ${original} ORDER BY id`);
  }

  /** Takes an inventory that is going out of all that are made of it. */
  async forget(inputId: number): Promise<void> {
    await this.delete({ input_id: inputId });
  }
}
