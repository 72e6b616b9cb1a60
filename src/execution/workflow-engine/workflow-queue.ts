import { Injectable } from '@nestjs/common';
import type { Row } from '../../common/resource/define-resource.js';
import { Database } from '../../database/database.js';
import { raw, sql } from '../../database/sql.js';
import { EXPLAIN_AFTER_SECONDS, waitingFor } from '../../runs/run-explanations.js';

/**
 * Every pending workflow job with the one that blocks it: a run of its template, unless both may
 * overlap. Those of no template, the parents of bulk launches, block nothing
 * (docs/contract/runs.md#blocking).
 */
const CANDIDATES = raw(`
  lines AS (
    SELECT id, type, status, created, job_explanation,
      allow_simultaneous OR unified_job_template_id IS NULL AS may_overlap,
      min(id) FILTER (WHERE status = 'running') OVER template AS running_id,
      min(id) OVER template AS first_id
    FROM unified_jobs WHERE type = 'workflow_job' AND status IN ('pending', 'running')
    WINDOW template AS (PARTITION BY unified_job_template_id)
  ), candidates AS (
    SELECT id, type, created, job_explanation,
      CASE WHEN NOT may_overlap THEN coalesce(running_id, nullif(first_id, id)) END AS blocker_id
    FROM lines WHERE status = 'pending')`);

/** The line in which workflow jobs wait for their start. */
@Injectable()
export class WorkflowQueue {
  constructor(private readonly database: Database) {}

  /** Ids of those that may start, in the order of their launch. */
  async ready(most: number): Promise<number[]> {
    const rows = await this.database.rows<Row>(sql`
      WITH ${CANDIDATES}
      SELECT id FROM candidates WHERE blocker_id IS NULL ORDER BY id LIMIT ${most}`);
    return rows.map(({ id }) => id);
  }

  /** Says on those that have been pending for a while what they wait for. */
  async explain(): Promise<void> {
    await this.database.execute(sql`
      WITH ${CANDIDATES}, explained AS (
        SELECT id, ${waitingFor('candidates.type', 'candidates.blocker_id')} AS text
        FROM candidates
        WHERE blocker_id IS NOT NULL
          AND created < now() - make_interval(secs => ${EXPLAIN_AFTER_SECONDS}))
      UPDATE unified_jobs SET job_explanation = explained.text FROM explained
      WHERE unified_jobs.id = explained.id AND unified_jobs.status = 'pending'
        AND unified_jobs.job_explanation <> explained.text`);
  }
}
