import { Injectable } from '@nestjs/common';
import { Outbox } from '../../common/queue/outbox.js';
import { Database } from '../../database/database.js';
import { raw, sql, type Sql } from '../../database/sql.js';
import { EXPLAIN_AFTER_SECONDS, NO_CAPACITY, waitingFor } from '../../runs/run-explanations.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { NODE_LOST_SECONDS } from '../../instances/worker-node-table.js';

/** Runs started in one pass; the next pass follows at once when there were as many. */
const MAX_STARTS = 500;

/**
 * Every pending run with the run that blocks it, or null when it only needs room. Blocked is
 * - a project update by another one of its project;
 * - a job by what it depends on, by an update of its project, and by a run of its template unless
 *   both may overlap.
 * What stands further back in the line blocks nothing, so nobody is overtaken within one line and no
 * line waits for another.
 *
 * One scan of the active runs and two sorts: no joins, whose cost would depend on statistics that a
 * sudden crowd of jobs makes wrong. For the same reason dependencies are looked up one by one.
 */
const CANDIDATES = raw(`
  lines AS (
    SELECT id, type, status, launch_type, created, job_explanation, allow_simultaneous, depends_on,
      unified_job_template_id IS NOT NULL AS has_template,
      type = 'project_update' OR dependencies_processed AS is_settled,
      min(id) FILTER (WHERE status <> 'pending') OVER template AS placed_id,
      min(id) OVER template AS first_id,
      min(id) FILTER (WHERE type = 'project_update' AND status <> 'pending') OVER project
        AS placed_update_id,
      min(id) FILTER (WHERE type = 'project_update') OVER project AS first_update_id
    FROM unified_jobs
    WHERE status IN ('pending', 'waiting', 'running') AND type IN ('job', 'project_update')
    WINDOW template AS (PARTITION BY type, unified_job_template_id),
      project AS (PARTITION BY
        CASE WHEN type = 'project_update' THEN unified_job_template_id ELSE project_id END)
  ), candidates AS (
    SELECT id, launch_type, created, job_explanation,
      CASE WHEN type = 'project_update' THEN coalesce(placed_id, nullif(first_id, id))
      ELSE coalesce(
        CASE WHEN depends_on::text <> '[]' THEN (
          SELECT min(wanted.id::int) FROM json_array_elements_text(depends_on) AS wanted(id)
          WHERE (SELECT status FROM unified_jobs WHERE unified_jobs.id = wanted.id::int)
            IN ('new', 'pending', 'waiting', 'running')) END,
        placed_update_id,
        CASE WHEN first_update_id < id THEN first_update_id END,
        CASE WHEN has_template AND NOT allow_simultaneous
          THEN coalesce(placed_id, nullif(first_id, id)) END)
      END AS blocker_id
    FROM lines WHERE status = 'pending' AND is_settled)`);

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
          ELSE ${waitingFor('blocker.type', 'blocker.id')} END AS text
        FROM candidates run LEFT JOIN unified_jobs blocker ON blocker.id = run.blocker_id
        WHERE run.created < now() - make_interval(secs => ${EXPLAIN_AFTER_SECONDS}))
      UPDATE unified_jobs SET job_explanation = explained.text FROM explained
      WHERE unified_jobs.id = explained.id AND unified_jobs.status = 'pending'
        AND unified_jobs.job_explanation <> explained.text`);
  }
}
