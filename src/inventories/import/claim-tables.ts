import { defineTable, type TableColumn } from '../../database/table.js';

const source: TableColumn = {
  type: 'integer',
  references: { table: 'unified_job_templates', onDelete: 'CASCADE' },
};
const text: TableColumn = { type: 'text', default: "''" };
const id: TableColumn = { type: 'integer', primary: true, identity: true };

/**
 * What each source has brought, and what it said of it last: it tells what is the source's own, so that
 * what others made or set stays (docs/decisions/0077-what-sources-brought.md).
 */
const claims = (name: string, column: string, table: string) =>
  defineTable({
    name,
    columns: {
      id,
      inventory_source_id: source,
      [column]: { type: 'integer', references: { table, onDelete: 'CASCADE' } },
      /** Variables as the source said them last: JSON, or empty. */
      delivered: text,
      /** MD5 of the variables that came of it. */
      merged_digest: text,
    },
    indexes: [
      { name: `${name}_key`, columns: ['inventory_source_id', column], unique: true },
      { name: `${name}_${column}_idx`, columns: [column] },
    ],
  });

claims('inventory_source_hosts', 'host_id', 'hosts');
claims('inventory_source_groups', 'group_id', 'groups');

/** What each source said last of the variables of its inventory. */
defineTable({
  name: 'inventory_source_variables',
  columns: {
    inventory_source_id: { ...source, primary: true },
    inventory_id: { type: 'integer', references: { table: 'inventories', onDelete: 'CASCADE' } },
    delivered: text,
  },
  indexes: [{ name: 'inventory_source_variables_inventory_id_idx', columns: ['inventory_id'] }],
});
