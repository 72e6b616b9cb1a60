import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { assertNoActiveRuns } from '../common/resource/held-by.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { ApprovalTemplateSchema } from './approval-template.schema.js';

@Injectable()
export class ApprovalTemplateHooks implements ResourceHooks<ApprovalTemplateSchema> {
  constructor(private readonly database: Database) {}

  /** The node stays, with nothing to run. */
  async prepareDelete(row: RowOf<ApprovalTemplateSchema>): Promise<void> {
    await assertNoActiveRuns(this.database, sql`unified_job_template_id = ${row.id}`);
  }
}
