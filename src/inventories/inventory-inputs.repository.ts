import { Injectable } from '@nestjs/common';
import { permit } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { and, or, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { accounts, type Account } from '../users/users.repository.js';
import { InventoryInput } from './inventory.entity.js';

/** An input of a constructed inventory. */
export interface AttachedInput {
  id: number;
  name: string;
}

/** A constructed inventory and one of its inputs. */
export interface InputPair {
  inventory_id: number;
  input_id: number;
}

/** Returns a query for the ids of a constructed inventory's inputs. */
export const inputsOf = (inventoryId: Sql): Sql => sql`
  SELECT input.input_id FROM inventory_inputs input WHERE input.inventory_id = ${inventoryId}`;

/** Returns a query for the ids of inventories with inputs. */
export const inventoriesWithInputs = (): Sql => sql`SELECT inventory_id FROM inventory_inputs`;

/** Inputs of constructed inventories. */
@Injectable()
export class InventoryInputsRepository extends TableRepository<Row> {
  constructor(@InjectRepository(InventoryInput) repository: Repository<InventoryInput>) {
    super(repository);
  }

  /** Returns the inputs of an inventory in their order. */
  of(inventoryId: number): Promise<AttachedInput[]> {
    return this.database.rows<AttachedInput & Row>(sql`
      SELECT inv.id, inv.name
      FROM inventory_inputs input JOIN inventories inv ON inv.id = input.input_id
      WHERE input.inventory_id = ${inventoryId} ORDER BY input.id`);
  }

  /** Returns the inputs of several inventories. */
  pairsOf(inventoryIds: readonly number[]): Promise<InputPair[]> {
    return this.database.rows<InputPair & Record<string, unknown>>(sql`
      SELECT inventory_id, input_id FROM inventory_inputs
      WHERE inventory_id = ANY(${inventoryIds}::int[]) ORDER BY id`);
  }

  /**
   * Returns the inputs of an inventory that must not be used, in their order: the user who attached the
   * input has no permission to use it any longer, or was deleted.
   */
  async unauthorized(inventoryId: number): Promise<AttachedInput[]> {
    const attachers = await this.database.rows<Account & Row>(sql`
      SELECT acc.id, acc.username, acc.is_superuser, acc.is_system_auditor
      FROM (${accounts()}) acc WHERE acc.id IN (
        SELECT attached_by_id FROM inventory_inputs WHERE inventory_id = ${inventoryId})`);
    const mayUse = attachers.map(({ id, username, is_superuser, is_system_auditor }) => {
      const actor = { id, username, isSuperuser: is_superuser, isSystemAuditor: is_system_auditor };
      const rule = permit(resource('inventory').policy, 'use', 'inv', actor);
      return and(sql`input.attached_by_id = ${id}`, rule);
    });
    return this.database.rows<AttachedInput & Row>(sql`
      SELECT inv.id, inv.name
      FROM inventory_inputs input JOIN inventories inv ON inv.id = input.input_id
      WHERE input.inventory_id = ${inventoryId} AND (${or(...mayUse)}) IS NOT TRUE
      ORDER BY input.id`);
  }

  /** Records the user who attached an input. */
  async setAttachedBy(inventoryId: number, inputId: number, userId: number): Promise<void> {
    await this.update({ inventory_id: inventoryId, input_id: inputId }, { attached_by_id: userId });
  }

  /**
   * Copies the inputs of an inventory to its copy, in their order.
   *
   * @param author user who copies the inventory
   */
  async copy(original: number, copy: number, author: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO inventory_inputs (inventory_id, input_id, attached_by_id)
      SELECT ${copy}::int, input_id, ${author}::int
      FROM inventory_inputs WHERE inventory_id = ${original} ORDER BY id`);
  }
}
