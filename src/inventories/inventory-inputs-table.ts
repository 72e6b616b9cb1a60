import { defineTable } from '../database/table.js';

/**
 * Inputs of constructed inventories, in the order of ids. The user who attached an input must have
 * permission to use it (docs/decisions/0079-derived-inventories.md).
 */
defineTable({
  name: 'inventory_inputs',
  columns: {
    id: { type: 'integer', primary: true, identity: true },
    inventory_id: { type: 'integer', references: { table: 'inventories', onDelete: 'CASCADE' } },
    input_id: { type: 'integer', references: { table: 'inventories', onDelete: 'CASCADE' } },
    attached_by_id: {
      type: 'integer',
      nullable: true,
      references: { table: 'users', onDelete: 'SET NULL' },
    },
  },
  indexes: [
    { name: 'inventory_inputs_key', columns: ['inventory_id', 'input_id'], unique: true },
    { name: 'inventory_inputs_input_id_idx', columns: ['input_id'] },
    { name: 'inventory_inputs_attached_by_id_idx', columns: ['attached_by_id'] },
  ],
});
