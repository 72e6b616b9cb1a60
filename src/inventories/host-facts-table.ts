import { defineTable } from '../database/table.js';

/** What Ansible found out about hosts; a table of its own, so that reading hosts reads none of it. */
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
