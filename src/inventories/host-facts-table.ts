import { defineTable } from '../database/table.js';

/**
 * Facts of hosts that `setup` returned, in a separate table, so that reading hosts does not read
 * facts.
 */
defineTable({
  name: 'host_facts',
  columns: {
    host_id: {
      type: 'integer',
      primary: true,
      references: { table: 'hosts', onDelete: 'CASCADE' },
    },
    facts: { type: 'json' },
  },
  indexes: [{ name: 'host_facts_facts_idx', columns: ['facts'], containment: true }],
});

/**
 * Other facts that playbooks of a project cache
 * (docs/decisions/0133-facts.md).
 */
defineTable({
  name: 'host_project_facts',
  columns: {
    host_id: {
      type: 'integer',
      primary: true,
      references: { table: 'hosts', onDelete: 'CASCADE' },
    },
    project_id: {
      type: 'integer',
      primary: true,
      references: { table: 'unified_job_templates', onDelete: 'CASCADE' },
    },
    facts: { type: 'json' },
  },
  indexes: [
    { name: 'host_project_facts_project_id_idx', columns: ['project_id'] },
    { name: 'host_project_facts_facts_idx', columns: ['facts'], containment: true },
  ],
});
