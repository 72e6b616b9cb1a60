import { defineTable } from '../database/table.js';

const node = {
  type: 'integer',
  references: { table: 'workflow_job_template_nodes', onDelete: 'CASCADE' },
} as const;

/** Edges of workflow job templates. Two nodes have at most one edge. */
defineTable({
  name: 'workflow_job_template_node_edges',
  columns: {
    parent_id: { ...node, primary: true },
    child_id: { ...node, primary: true },
    /** Kind of the edge: `success`, `failure` or `always`. */
    kind: { type: 'text' },
  },
  indexes: [{ name: 'workflow_job_template_node_edges_child_id_idx', columns: ['child_id'] }],
});
