import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { isFinal } from '../runs/state-machine.js';

/**
 * Writes how a node ended in the transaction that ends its run, so that no end is missed and none
 * counts twice. Nodes of a workflow job that is over can start no more.
 */
@Injectable()
@ListensToRuns()
export class NodeOutcomes implements RunListener {
  constructor(private readonly database: Database) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const over = changes.filter(({ status }) => isFinal(status));
    if (over.length === 0) return;
    await this.database.execute(sql`
      UPDATE workflow_job_nodes node SET outcome = given.status, modified = now()
      FROM unnest(${over.map(({ jobId }) => jobId)}::int[],
        ${over.map(({ status }) => status)}::text[]) AS given (job_id, status)
      WHERE node.job_id = given.job_id AND node.outcome = ''`);
    const workflows = over.filter(({ type }) => type === 'workflow_job').map(({ jobId }) => jobId);
    if (workflows.length === 0) return;
    await this.database.execute(sql`
      UPDATE workflow_job_nodes
      SET outcome = 'skipped', do_not_run = true, followed = true, modified = now()
      WHERE workflow_job_id = ANY(${workflows}::int[]) AND outcome = '' AND job_id IS NULL`);
  }
}
