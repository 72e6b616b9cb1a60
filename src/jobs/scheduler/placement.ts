import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.js';
import { Database } from '../../database/database.js';
import { raw, sql, type Sql } from '../../database/sql.js';
import { NO_CAPACITY } from '../run-explanations.js';
import { RunTransitions } from '../transitions.js';
import { NODE_LOST_SECONDS } from '../worker/worker-node.js';
import '../worker/tables.js';

/** Runs started in one pass; the next pass follows at once when there were as many. */
const MAX_STARTS = 500;
/** A user is told why a run waits once it has waited this long, in seconds (automation 4.2). */
const EXPLAIN_AFTER_SECONDS = 30;

/**
 * Every pending run with the run that blocks it, or null when it only needs room. Blocked is
 * - a project update by another one of its project;
 * - a job by what it depends on, by an update of its project, and by a run of its template unless
 *   both may overlap.
 * What stands further back in the line blocks nothing, so nobody is overtaken within one line and no
 * line waits for another.
 */
const CANDIDATES = raw(`
  updates AS (
    SELECT unified_job_template_id AS project_id,
      min(id) FILTER (WHERE status <> 'pending') AS placed_id,
      min(id) FILTER (WHERE status = 'pending') AS pending_id
    FROM unified_jobs
    WHERE type = 'project_update' AND status IN ('pending', 'waiting', 'running')
    GROUP BY unified_job_template_id
  ), placed AS (
    SELECT unified_job_template_id, min(id) AS id
    FROM unified_jobs WHERE type = 'job' AND status IN ('waiting', 'running')
    GROUP BY unified_job_template_id
  ), pending AS (
    SELECT id, type, launch_type, created, job_explanation, project_id, unified_job_template_id,
      allow_simultaneous, dependencies_processed, depends_on,
      min(id) OVER (PARTITION BY type, unified_job_template_id) AS first_id
    FROM unified_jobs WHERE status = 'pending' AND type IN ('job', 'project_update')
  ), candidates AS (
    SELECT run.id, run.launch_type, run.created, run.job_explanation,
      CASE WHEN run.type = 'project_update'
        THEN coalesce(own.placed_id, nullif(own.pending_id, run.id))
        ELSE coalesce(dependency.id, project.placed_id,
          CASE WHEN project.pending_id < run.id THEN project.pending_id END,
          CASE WHEN NOT run.allow_simultaneous AND run.unified_job_template_id IS NOT NULL
            THEN coalesce(placed.id, nullif(run.first_id, run.id)) END)
      END AS blocker_id
    FROM pending run
    LEFT JOIN updates own
      ON run.type = 'project_update' AND own.project_id = run.unified_job_template_id
    LEFT JOIN updates project ON run.type = 'job' AND project.project_id = run.project_id
    LEFT JOIN placed
      ON run.type = 'job' AND placed.unified_job_template_id = run.unified_job_template_id
    LEFT JOIN LATERAL (
      SELECT d.id FROM json_array_elements_text(run.depends_on) AS wanted(id)
      JOIN unified_jobs d ON d.id = wanted.id::int
      WHERE d.status IN ('new', 'pending', 'waiting', 'running')
      ORDER BY d.id LIMIT 1) dependency ON true
    WHERE run.type = 'project_update' OR run.dependencies_processed)`);

/** Runs that all live workers together can take on besides what they have. */
const CAPACITY: Sql = sql`
  capacity AS (
    SELECT greatest(0, (
        SELECT coalesce(sum(capacity), 0) FROM worker_nodes
        WHERE last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS}))
      - (SELECT count(*) FROM unified_jobs WHERE status IN ('waiting', 'running')
          AND type IN ('job', 'project_update') AND launch_type <> 'sync')) AS free)`;

/** Gives pending runs to the workers: in the order of their launch, as far as there is room. */
@Injectable()
export class Placement {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly outbox: Outbox,
  ) {}

  /** @returns whether more runs may be left than one pass takes */
  async place(): Promise<boolean> {
    // A sync some job waits for goes first: the job has its place in the line already.
    const rows = await this.database.rows<{ id: number }>(sql`
      WITH ${CAPACITY}, ${CANDIDATES}
      SELECT id FROM candidates WHERE blocker_id IS NULL
      ORDER BY (launch_type <> 'dependency'), id
      LIMIT (SELECT least(free, ${MAX_STARTS}::int) FROM capacity)`);
    if (rows.length === 0) return false;
    const placed = await this.transitions.move(
      rows.map(({ id }) => id),
      { from: ['pending'], to: 'waiting' },
    );
    await this.outbox.add(
      'runs',
      placed.map(({ id }) => id).sort((left, right) => left - right),
    );
    return rows.length === MAX_STARTS;
  }

  /** Says on the runs that have been pending for a while what they wait for. */
  async explain(): Promise<void> {
    await this.database.execute(sql`
      WITH ${CANDIDATES}, explained AS (
        SELECT run.id, CASE WHEN blocker.id IS NULL THEN ${NO_CAPACITY}
          ELSE 'waiting for ' || blocker.type || '-' || blocker.id || ' to finish' END AS text
        FROM candidates run LEFT JOIN unified_jobs blocker ON blocker.id = run.blocker_id
        WHERE run.created < now() - make_interval(secs => ${EXPLAIN_AFTER_SECONDS}))
      UPDATE unified_jobs SET job_explanation = explained.text FROM explained
      WHERE unified_jobs.id = explained.id AND unified_jobs.status = 'pending'
        AND unified_jobs.job_explanation <> explained.text`);
  }
}
