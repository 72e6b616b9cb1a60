import { defineTable } from '../database/table.js';

/** What `setup` found out about hosts; a table of its own, so that reading hosts reads none of it. */
defineTable({
  name: 'host_facts',
  columns: {
    host_id: {
      type: 'integer',
      primary: true,
      references: { table: 'hosts', onDelete: 'CASCADE' },
    },
    facts: { type: 'jsonb' },
  },
  indexes: [{ name: 'host_facts_facts_idx', columns: ['facts'], containment: true }],
});

/** What playbooks of a project found out beyond that (docs/decisions/0133-facts-of-setup-and-of-projects.md). */
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
    facts: { type: 'jsonb' },
  },
  indexes: [
    { name: 'host_project_facts_project_id_idx', columns: ['project_id'] },
    { name: 'host_project_facts_facts_idx', columns: ['facts'], containment: true },
  ],
});
