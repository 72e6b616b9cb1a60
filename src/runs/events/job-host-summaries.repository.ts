import { Injectable } from '@nestjs/common';
import { existing } from '../../common/invariants.js';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { TableRepository } from '../../database/table-repository.js';
import { hasStatistics } from './job-events.repository.js';

/** How one host fared in a run. */
export interface HostOfRun {
  host_name: string;
  host_id: number | null;
  ok: number;
  changed: number;
  failures: number;
  dark: number;
  skipped: number;
  /** Hosts of the run. */
  total: number;
}

/** How many hosts a run had. */
export interface HostCounts {
  all: number;
  failed: number;
  /** Whether the run came to its final statistics. */
  stats: boolean;
}

@Injectable()
export class JobHostSummariesRepository extends TableRepository<Row> {
  constructor(database: Database) {
    super(database, 'job_host_summaries');
  }

  /** Hosts of a run, those with failures first. */
  ofRun(runId: number, most: number): Promise<HostOfRun[]> {
    return this.database.rows<HostOfRun>(sql`
      SELECT host_name, host_id, ok, changed, failures, dark, skipped,
        (count(*) OVER ())::int AS total
      FROM job_host_summaries WHERE job_id = ${runId}
      ORDER BY failed DESC, host_name LIMIT ${most}`);
  }

  async failedHosts(runId: number): Promise<string[]> {
    const rows = await this.database.rows<{ host_name: string }>(sql`
      SELECT host_name FROM job_host_summaries
      WHERE job_id = ${runId} AND failed ORDER BY host_name`);
    return rows.map(({ host_name: name }) => name);
  }

  async counts(runId: number): Promise<HostCounts> {
    const row = await this.database.row<HostCounts>(sql`
      SELECT count(*)::int AS all, (count(*) FILTER (WHERE failed))::int AS failed,
        ${hasStatistics(runId)} AS stats
      FROM job_host_summaries WHERE job_id = ${runId}`);
    return existing(row, 'an aggregate has a row');
  }
}
