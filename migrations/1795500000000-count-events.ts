import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTED = [
  ...['type', 'status', 'unified_job_template_id', 'job_template_id', 'organization_id'],
  ...['inventory_id', 'is_bulk_job'],
].join(', ');

const KEY = `concat_ws('/', type, status, coalesce(unified_job_template_id, 0),
  coalesce(job_template_id, 0), coalesce(organization_id, 0), coalesce(inventory_id, 0),
  coalesce(is_bulk_job::text, ''))`;

/** Changes of a statement to the totals of runs and, if counted, of their events. */
const CHANGES = {
  INSERT: (added: string) => `SELECT ${COUNTED}, 1 AS change${added} FROM later`,
  DELETE: (_added: string, taken: string) => `SELECT ${COUNTED}, -1 AS change${taken} FROM former`,
  UPDATE: (added: string, taken: string) => `SELECT ${COUNTED}, 1 AS change${added} FROM later
    UNION ALL SELECT ${COUNTED}, -1${taken} FROM former`,
} as const;

/** The functions for totals of runs before this migration. */
const keepRuns = (event: keyof typeof CHANGES): string => `
  CREATE OR REPLACE FUNCTION count_runs_${event.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    difference record;
  BEGIN
    FOR difference IN
      SELECT ${KEY} AS key, ${COUNTED}, sum(change)::integer AS change
      FROM (${CHANGES[event]('', '')}) AS changes
      GROUP BY ${COUNTED} HAVING sum(change) <> 0
    LOOP
      UPDATE run_totals SET total = total + difference.change
      WHERE id = (
        SELECT id FROM run_totals WHERE key = difference.key LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        INSERT INTO run_totals (key, ${COUNTED}, total)
        VALUES (difference.key, ${COUNTED.replace(/\w+/g, 'difference.$&')},
          difference.change);
      END IF;
    END LOOP;
    RETURN NULL;
  END $$`;

const keepRunsAndEvents = (event: keyof typeof CHANGES): string => `
  CREATE OR REPLACE FUNCTION count_runs_${event.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    difference record;
  BEGIN
    FOR difference IN
      SELECT ${KEY} AS key, ${COUNTED}, sum(change)::integer AS change, sum(events) AS events
      FROM (${CHANGES[event](', event_total AS events', ', -event_total AS events')}) AS changes
      GROUP BY ${COUNTED} HAVING sum(change) <> 0 OR sum(events) <> 0
    LOOP
      UPDATE run_totals
      SET total = total + difference.change, event_total = event_total + difference.events
      WHERE id = (
        SELECT id FROM run_totals WHERE key = difference.key LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        INSERT INTO run_totals (key, ${COUNTED}, total, event_total)
        VALUES (difference.key, ${COUNTED.replace(/\w+/g, 'difference.$&')},
          difference.change, difference.events);
      END IF;
    END LOOP;
    RETURN NULL;
  END $$`;

const EVENT_CHANGES = {
  INSERT: { transition: 'NEW TABLE AS changed', sign: '' },
  DELETE: { transition: 'OLD TABLE AS changed', sign: '-' },
} as const;

/**
 * Adds the number of stored events to runs and to the totals of runs, because events are visible with their
 * run (docs/decisions/0110-kept-totals.md). Runs are locked in the order of their ids; runs that are deleted
 * with their events no longer exist then. The first count reads the table once.
 */
export class CountEvents1795500000000 implements MigrationInterface {
  name = 'CountEvents1795500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" ADD "event_total" integer NOT NULL DEFAULT 0`);
    await runner.query(`ALTER TABLE "run_totals" ADD "event_total" bigint NOT NULL DEFAULT 0`);
    for (const event of ['INSERT', 'DELETE', 'UPDATE'] as const) {
      await runner.query(keepRunsAndEvents(event));
    }
    for (const [event, { transition, sign }] of Object.entries(EVENT_CHANGES)) {
      const name = `count_events_${event.toLowerCase()}`;
      await runner.query(`
        CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE unified_jobs run SET event_total = run.event_total + difference.change
          FROM (
            SELECT held.id, changes.change
            FROM (SELECT job_id, ${sign}count(*) AS change FROM changed GROUP BY job_id) changes
            JOIN unified_jobs held ON held.id = changes.job_id
            ORDER BY held.id FOR NO KEY UPDATE OF held) difference
          WHERE run.id = difference.id;
          RETURN NULL;
        END $$`);
      await runner.query(`CREATE TRIGGER job_events_${name} AFTER ${event} ON job_events
        REFERENCING ${transition} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`);
    }
    // The locks of CREATE TRIGGER block writers until commit.
    await runner.query(`
      UPDATE unified_jobs run SET event_total = counted.total
      FROM (SELECT job_id, count(*) AS total FROM job_events GROUP BY job_id) counted
      WHERE run.id = counted.job_id`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const event of ['insert', 'delete']) {
      await runner.query(`DROP TRIGGER job_events_count_events_${event} ON job_events`);
      await runner.query(`DROP FUNCTION count_events_${event}`);
    }
    for (const event of ['INSERT', 'DELETE', 'UPDATE'] as const) {
      await runner.query(keepRuns(event));
    }
    await runner.query(`ALTER TABLE "run_totals" DROP COLUMN "event_total"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "event_total"`);
  }
}
