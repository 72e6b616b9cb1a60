import { Injectable } from '@nestjs/common';
import { extendEach, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { summarizeReferred, TEMPLATE_SUMMARY } from '../templates/template-references.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';
import type { WorkflowJobTemplateNode } from './workflow-job-template-node.entity.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';

export const TEMPLATE_NODE_SHOWS: ShownMembers = {
  summary_fields: { unified_job_template: TEMPLATE_SUMMARY },
};

/** Adds the children and the template of each node, with two statements per page. */
@Injectable()
export class WorkflowJobTemplateNodeExtension {
  constructor(
    private readonly nodes: WorkflowJobTemplateNodesRepository,
    private readonly templates: TemplatesRepository,
  ) {}

  async extend(
    rows: readonly RowOf<WorkflowJobTemplateNode>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const children = await this.nodes.children(rows.map(({ id }) => id));
    const templateIds = rows.flatMap((row) => row.unified_job_template_id ?? []);
    const named = await this.templates.named(templateIds, context.actor);
    const templates = new Map(named.map((template) => [template.id, summarizeReferred(template)]));
    return extendEach(rows, (row) => {
      const template = templates.get(row.unified_job_template_id ?? 0);
      const childrenBy = (kind: EdgeKind): number[] =>
        children.find((child) => child.id === row.id && child.kind === kind)?.ids ?? [];
      return {
        fields: {
          success_nodes: childrenBy('success'),
          failure_nodes: childrenBy('failure'),
          always_nodes: childrenBy('always'),
        },
        summary_fields: template ? { unified_job_template: template } : {},
      };
    });
  }
}
