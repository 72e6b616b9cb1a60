import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListFactory } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';
import { WorkflowTemplateNodesRepository } from './workflow-template-nodes.repository.js';

/**
 * Returns the sublist `<kind>_nodes/` of a node: `{id}` links a node of the same workflow, a body
 * without id creates a node and links it (docs/contract/workflows.md#edges). Requires only
 * permission to change the workflow.
 */
export const followedBy = (kind: EdgeKind): SubListFactory =>
  attached(`${kind}_nodes`, {
    check: (context, child) => assertLinkable(context, child, kind),
    create: (node) => ({ workflow_job_template: node.workflow_job_template_id }),
  });

/**
 * @throws BadRequest for an edge that would close a cycle, or a pair with another edge; Forbidden
 *   for a node of another workflow
 */
async function assertLinkable(
  { services, parent }: LinkContext,
  child: Row,
  kind: EdgeKind,
): Promise<void> {
  if (child.workflow_job_template_id !== parent.workflow_job_template_id) throw new Forbidden();
  // Locks the workflow, so that two simultaneous requests cannot create a cycle together.
  await services.find(TemplatesRepository).lock(Number(parent.workflow_job_template_id));
  const found = await services
    .find(WorkflowTemplateNodesRepository)
    .edgeBetween(parent.id, child.id);
  if (found.closes_cycle) throw new BadRequest('Cycle detected.');
  if (found.kind !== null && found.kind !== kind) throw new BadRequest('Relationship not allowed.');
}
