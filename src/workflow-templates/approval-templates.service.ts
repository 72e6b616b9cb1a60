import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { WorkflowJobsRepository } from '../workflows/workflow-jobs.repository.js';
import type { WorkflowJobTemplateNode } from './workflow-job-template-node.entity.js';
import { WorkflowJobTemplatesRepository } from './workflow-job-templates.repository.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';

const NODE_REMOVED = 'The approval was denied because its node was removed from the workflow.';

/** Manages approval templates, each of which belongs to one node. */
@Injectable()
export class ApprovalTemplates {
  constructor(
    private readonly templates: WorkflowJobTemplatesRepository,
    private readonly nodes: WorkflowJobTemplateNodesRepository,
    private readonly approvals: WorkflowJobsRepository,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Assigns an approval template to a locked node and clears the node's launch fields, which have
   * no effect on approvals.
   */
  async assign(node: RowOf<WorkflowJobTemplateNode>, template: Row): Promise<void> {
    const former = node.unified_job_template_id;
    await this.nodes.assignApproval(node.id, template.id);
    this.activity.recordUpdate(resource('workflow_job_template_node'), node, {
      unified_job_template: [former, template.id],
    });
    await this.discard(former);
  }

  /**
   * Deletes the former template of a node if it is an approval template; pending approvals fail.
   */
  async discard(templateId: number | null): Promise<void> {
    if (templateId === null) return;
    // Lock first: the workflow engine can be creating an approval, which is pending after its commit.
    await this.templates.lockApproval(templateId);
    const pending = await this.approvals.pendingApprovals(templateId);
    await this.transitions.move(
      pending.map((id) => ({ id, explanation: NODE_REMOVED })),
      { from: ['pending'], to: 'failed' },
    );
    await this.templates.removeApproval(templateId);
  }
}
