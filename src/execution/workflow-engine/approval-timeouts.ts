import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';

interface ExpiredApproval extends Row {
  name: string;
  timeout: number;
}

/** Ends approvals nobody decided in time, by the database's clock. */
@Injectable()
export class ApprovalTimeouts {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
  ) {}

  async expire(): Promise<void> {
    const expired = await this.database.rows<ExpiredApproval>(sql`
      SELECT id, name, timeout FROM unified_jobs
      WHERE type = 'workflow_approval' AND status = 'pending' AND timeout > 0
        AND created + make_interval(secs => timeout) <= now()`);
    await this.transitions.move(
      expired.map(({ id, name, timeout }) => ({
        id,
        explanation: `The approval node ${name} (${id}) has expired after ${timeout} seconds.`,
      })),
      { from: ['pending'], to: 'failed', fields: { timed_out: true } },
    );
  }
}
