import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../common/errors/errors.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { attached, type SubListFactory } from '../common/rest/sublist.js';
import { ident, sql } from '../database/sql.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';

/** Rules of the edges between nodes (docs/contract/workflows.md#edges). */
@Injectable()
export class NodeEdges {
  constructor(
    private readonly templates: TemplatesRepository,
    private readonly nodes: WorkflowJobTemplateNodesRepository,
  ) {}

  /**
   * @throws BadRequest if the edge would create a cycle, or if the nodes have an edge of another kind;
   *   Forbidden for a node of another workflow
   */
  async assertLinkable(parent: Row, child: Row, kind: EdgeKind): Promise<void> {
    if (child.workflow_job_template_id !== parent.workflow_job_template_id) throw new Forbidden();
    // Locks the workflow, so that two concurrent requests cannot create a cycle together.
    await this.templates.lock([Number(parent.workflow_job_template_id)]);
    const found = await this.nodes.edgeBetween(parent.id, child.id);
    if (found.closes_cycle) throw new BadRequest('Cycle detected.');
    if (found.kind !== null && found.kind !== kind) {
      throw new BadRequest('Relationship not allowed.');
    }
  }
}

/**
 * Declares the sub-list `<kind>_nodes/` of a node. POST with `{id}` links a node of the same workflow;
 * POST without id creates and links a node. Requires permission to change the workflow.
 */
export const childNodes = (kind: EdgeKind): SubListFactory =>
  attached(`${kind}_nodes`, {
    rules: NodeEdges,
    check: ({ rules, parent }, child) => rules.assertLinkable(parent, child, kind),
    create: (node) => ({ workflow_job_template: node.workflow_job_template_id }),
    candidates: (node) => ({
      list: `${resource('workflow_job_template').url(Number(node.workflow_job_template_id))}workflow_nodes/`,
      scope: (alias) =>
        sql`${ident(alias, 'workflow_job_template_id')} = ${node.workflow_job_template_id}::int`,
    }),
  });
