import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/held-by.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { ApprovalTemplateSchema } from './approval-template.schema.js';

@Injectable()
export class ApprovalTemplateHooks implements ResourceHooks<ApprovalTemplateSchema> {
  constructor(private readonly runs: ActiveRunsQuery) {}

  /** The node remains without a template. */
  async prepareDelete(row: RowOf<ApprovalTemplateSchema>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['unified_job_template_id'], [row.id]);
  }
}
