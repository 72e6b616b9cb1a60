import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the index that finds the slowest tasks of jobs with many events. */
export class IndexStepsOfJobs1795801206800 implements MigrationInterface {
  name = 'IndexStepsOfJobs1795801206800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "job_events_steps_idx" ON "job_events"  ("job_id", "counter") WHERE (event = ANY (ARRAY['playbook_on_task_start'::text, 'playbook_on_handler_task_start'::text, 'playbook_on_play_start'::text, 'playbook_on_stats'::text]))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."job_events_steps_idx"`);
  }
}
