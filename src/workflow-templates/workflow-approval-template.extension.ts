import { Injectable } from '@nestjs/common';
import { ref } from '../common/resource/resource-schema.js';
import { extendEach, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { referencedSummaries } from '../common/resource/related-rows.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';

export const APPROVAL_TEMPLATE_SHOWS: ShownMembers = {
  related: ['workflow_job_template', 'jobs'],
  summary_fields: { workflow_job_template: ref('WorkflowJobTemplateSummary') },
};

/** Adds the workflow of each approval template, with two statements per page. */
@Injectable()
export class WorkflowApprovalTemplateExtension {
  constructor(private readonly nodes: WorkflowJobTemplateNodesRepository) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const found = await this.nodes.workflowsOf(rows.map(({ id }) => id));
    const workflows = resource('workflow_job_template');
    const summaries = await referencedSummaries(
      workflows,
      found.map((approval) => approval.workflow_id),
      context,
    );
    return extendEach(found, ({ id, workflow_id: workflowId }) => {
      const summary = summaries.get(workflowId);
      return {
        related: {
          workflow_job_template: workflows.url(workflowId),
          // The name that clients expect; the name in the URL is `approvals`.
          jobs: `${resource('workflow_approval_template').url(id)}approvals/`,
        },
        summary_fields: summary ? { workflow_job_template: summary } : {},
      };
    });
  }
}
