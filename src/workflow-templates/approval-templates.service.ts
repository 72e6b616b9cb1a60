import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import type { Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { ident, join, sql } from '../database/sql.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { STORED_TYPES } from '../prompts/prompt-columns.js';

const GONE = 'The approval was denied because its node was removed from the workflow.';

/** The templates behind nodes that wait for an approval: each belongs to one node. */
@Injectable()
export class ApprovalTemplates {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
  ) {}

  /** Lets a locked node run an approval template; launch fields mean nothing to it. */
  async assign(node: Row, template: Row): Promise<void> {
    const former = node.unified_job_template_id as number | null;
    const cleared = Object.keys(STORED_TYPES).map((column) => sql`${ident(column)} = NULL`);
    await this.database.execute(sql`
      UPDATE workflow_job_template_nodes
      SET unified_job_template_id = ${template.id}, extra_data = '{}', survey_passwords = '{}',
        modified = now(), ${join(cleared, ', ')}
      WHERE id = ${node.id}`);
    this.activity.record({
      operation: 'update',
      object1: refOf(resource('workflow_job_template_node'), node),
      changes: { unified_job_template: [former, template.id] },
    });
    await this.discard(former);
  }

  /** Deletes what a node no longer runs, if it is an approval template; undecided ones are denied. */
  async discard(templateId: number | null): Promise<void> {
    if (templateId === null) return;
    const pending = await this.pending(templateId);
    await this.transitions.move(
      pending.map((id) => ({ id, explanation: GONE })),
      { from: ['pending'], to: 'failed' },
    );
    await this.database.execute(sql`
      DELETE FROM unified_job_templates
      WHERE id = ${templateId} AND type = 'workflow_approval_template'`);
  }

  /** Ids of the approvals of a template that nobody has decided. */
  private async pending(templateId: number): Promise<number[]> {
    const found = await this.database.rows<Row>(sql`
      SELECT id FROM unified_jobs
      WHERE unified_job_template_id = ${templateId} AND type = 'workflow_approval'
        AND status = 'pending'`);
    return found.map(({ id }) => id);
  }
}
