import { BadRequest, Forbidden } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListFactory } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { sql } from '../database/sql.js';

/** When a node follows another. */
export type EdgeKind = 'success' | 'failure' | 'always';

/**
 * `<kind>_nodes/` of a node: `{id}` ties a node of the same workflow, a body without id makes one
 * and ties it (docs/contract/workflows.md#edges). Only the right to change the workflow is asked.
 */
export const followedBy = (kind: EdgeKind): SubListFactory =>
  attached(`${kind}_nodes`, {
    check: (context, child) => assertLinkable(context, child, kind),
    create: (node) => ({ workflow_job_template: node.workflow_job_template_id }),
  });

/**
 * @throws BadRequest for an edge that would close a cycle, or a pair that is tied in another way;
 *   Forbidden for a node of another workflow
 */
async function assertLinkable(
  { services: { database }, parent }: LinkContext,
  child: Row,
  kind: EdgeKind,
): Promise<void> {
  if (child.workflow_job_template_id !== parent.workflow_job_template_id) throw new Forbidden();
  // One edge at a time in a workflow: two requests must not close a cycle together.
  await database.execute(sql`
    SELECT 1 FROM unified_job_templates WHERE id = ${parent.workflow_job_template_id}
    FOR NO KEY UPDATE`);
  const found = existing(
    await database.row<{ closes_cycle: boolean; kind: EdgeKind | null }>(sql`
    WITH RECURSIVE below (id) AS (
      SELECT ${child.id}::int
      UNION
      SELECT edge.child_id FROM below
      JOIN workflow_job_template_node_edges edge ON edge.parent_id = below.id
    )
    SELECT EXISTS (SELECT 1 FROM below WHERE id = ${parent.id}) AS closes_cycle, (
      SELECT kind FROM workflow_job_template_node_edges
      WHERE parent_id = ${parent.id} AND child_id = ${child.id}) AS kind`),
    'a SELECT without FROM has a row',
  );
  if (found.closes_cycle) throw new BadRequest('Cycle detected.');
  if (found.kind !== null && found.kind !== kind) throw new BadRequest('Relationship not allowed.');
}
