import { defineTable, type TableColumn } from '../../database/table.js';

const source: TableColumn = {
  type: 'integer',
  references: { table: 'unified_job_templates', onDelete: 'CASCADE' },
};
const text: TableColumn = { type: 'text', default: "''" };
const id: TableColumn = { type: 'integer', primary: true, identity: true };

/**
 * Defines a table of the objects that each source delivered, with the values of its last delivery.
 * It identifies a source's own objects and values, so that changes by users and other sources are
 * kept (docs/decisions/0077-inventory-import.md).
 */
const claims = (name: string, column: string, table: string) =>
  defineTable({
    name,
    columns: {
      id,
      inventory_source_id: source,
      [column]: { type: 'integer', references: { table, onDelete: 'CASCADE' } },
      /** Variables of the source's last delivery: JSON, or empty. */
      delivered: text,
      /** MD5 of the merged variables that resulted. */
      merged_digest: text,
    },
    indexes: [
      { name: `${name}_key`, columns: ['inventory_source_id', column], unique: true },
      { name: `${name}_${column}_idx`, columns: [column] },
    ],
  });

claims('inventory_source_hosts', 'host_id', 'hosts');
claims('inventory_source_groups', 'group_id', 'groups');

/** Variables of the inventory in each source's last delivery. */
defineTable({
  name: 'inventory_source_variables',
  columns: {
    inventory_source_id: { ...source, primary: true },
    inventory_id: { type: 'integer', references: { table: 'inventories', onDelete: 'CASCADE' } },
    delivered: text,
  },
  indexes: [{ name: 'inventory_source_variables_inventory_id_idx', columns: ['inventory_id'] }],
});
