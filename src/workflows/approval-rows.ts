import { sql, type Sql } from '../database/sql.js';

/**
 * Inserts the approval of each node that asks for one, and returns the rows as
 * `RunTransitions.created` wants them.
 *
 * @param ids id of the approval by node
 */
export const insertApprovals = (nodeIds: readonly number[], ids: readonly number[]): Sql => sql`
  INSERT INTO unified_jobs (id, type, name, description, unified_job_template_id, workflow_job_id,
    organization_id, launch_type, status, timeout, created_by_id, modified_by_id)
  SELECT given.id, 'workflow_approval', tpl.name, tpl.description, tpl.id, workflow.id,
    workflow.organization_id, 'workflow', 'pending', tpl.timeout, workflow.created_by_id,
    workflow.created_by_id
  FROM unnest(${ids}::int[], ${nodeIds}::int[]) AS given (id, node_id)
  JOIN workflow_job_nodes node ON node.id = given.node_id
  JOIN unified_jobs workflow ON workflow.id = node.workflow_job_id
  JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
  RETURNING id, type, status, unified_job_template_id`;
