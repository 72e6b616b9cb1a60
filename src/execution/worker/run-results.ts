import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { insertRows } from '../../database/rows.js';
import { sql } from '../../database/sql.js';
import { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import type { HostSummary } from '../runner/event-summaries.js';

const SUMMARY_COLUMNS = {
  job_id: 'integer',
  host_name: 'text',
  changed: 'integer',
  dark: 'integer',
  failures: 'integer',
  ok: 'integer',
  processed: 'integer',
  skipped: 'integer',
  ignored: 'integer',
  rescued: 'integer',
  failed: 'boolean',
};

/** What is worked out from the events of a playbook once it is over; all of it set-based. */
@Injectable()
export class RunResults {
  constructor(
    private readonly database: Database,
    private readonly events: JobEventsRepository,
  ) {}

  /** Stores how each host fared and points the hosts of the inventory at it. */
  async summarise(jobId: number, summaries: ReadonlyMap<string, HostSummary>): Promise<void> {
    if (summaries.size === 0) return;
    const insert = insertRows(
      'job_host_summaries',
      SUMMARY_COLUMNS,
      [...summaries].map(([name, counts]) => [
        ...[jobId, name, counts.changed, counts.dark, counts.failures, counts.ok],
        ...[counts.processed, counts.skipped, counts.ignored, counts.rescued, counts.failed],
      ]),
    );
    await this.database.execute(sql`${insert} ON CONFLICT (job_id, host_name) DO NOTHING`);
    // In the order of ids: jobs of one inventory that end together must not lock each other out.
    await this.database.execute(sql`
      WITH locked AS (
        SELECT host.id, summary.id AS summary_id
        FROM job_host_summaries summary
        JOIN unified_jobs job ON job.id = summary.job_id
        JOIN hosts host ON host.inventory_id = job.inventory_id AND host.name = summary.host_name
        WHERE summary.job_id = ${jobId}
        ORDER BY host.id FOR NO KEY UPDATE OF host
      ), linked AS (
        UPDATE job_host_summaries summary SET host_id = locked.id
        FROM locked WHERE summary.id = locked.summary_id)
      UPDATE hosts SET last_job_id = ${jobId}, last_job_host_summary_id = locked.summary_id
      FROM locked WHERE hosts.id = locked.id`);
  }

  /** A task, play or playbook failed or changed something when anything in it did. */
  async propagate(jobId: number): Promise<void> {
    await this.events.propagate(jobId);
  }
}
