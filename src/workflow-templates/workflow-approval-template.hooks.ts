import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { WorkflowApprovalTemplate } from './workflow-approval-template.entity.js';

@Injectable()
export class WorkflowApprovalTemplateHooks implements ResourceHooks<WorkflowApprovalTemplate> {
  constructor(private readonly runs: ActiveRunsQuery) {}

  /** Permits the deletion if no approval is pending. The node remains, without a template. */
  async prepareDelete(row: RowOf<WorkflowApprovalTemplate>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['unified_job_template_id'], [row.id]);
  }
}
