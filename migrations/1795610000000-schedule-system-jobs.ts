import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Kind of job, name, age in days, weekday (0: Sunday), and its name in recurrence rules. */
const SCHEDULES = [
  ['cleanup_jobs', 'Cleanup Job Schedule', '120', 0, 'SU'],
  ['cleanup_activitystream', 'Cleanup Activity Schedule', '355', 2, 'TU'],
] as const;

/** Adds weekly schedules of two system jobs (docs/contract/system-jobs.md#schedules). */
export class ScheduleSystemJobs1795610000000 implements MigrationInterface {
  name = 'ScheduleSystemJobs1795610000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const schedule of SCHEDULES) {
      await runner.query(
        `WITH first AS (
          SELECT date_trunc('second', now()) + make_interval(days => 1
            + ($4::int - extract(dow FROM now() AT TIME ZONE 'UTC')::int + 13) % 7) AS run
        ), added AS (
          INSERT INTO schedules (name, description, unified_job_template_id, rrule, enabled,
            extra_data, dtstart, next_run)
          SELECT $2, 'Automatically Generated Schedule', tpl.id,
            to_char(first.run AT TIME ZONE 'UTC', '"DTSTART:"YYYYMMDD"T"HH24MISS"Z"')
              || ' RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=' || $5::text,
            true, json_build_object('days', $3::text), first.run, first.run
          FROM first CROSS JOIN unified_job_templates tpl
          WHERE tpl.type = 'system_job_template' AND tpl.job_type = $1
          RETURNING id, unified_job_template_id, next_run)
        UPDATE unified_job_templates tpl
        SET next_schedule_id = added.id, next_job_run = added.next_run
        FROM added WHERE tpl.id = added.unified_job_template_id`,
        [...schedule],
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM schedules WHERE unified_job_template_id IN (
      SELECT id FROM unified_job_templates WHERE type = 'system_job_template')`);
  }
}
