import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A sliced job is known as one after its job template is gone. */
export class MarkSlicedJobs1795292000000 implements MigrationInterface {
  name = 'MarkSlicedJobs1795292000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE unified_jobs ADD is_sliced_job boolean DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE unified_jobs DROP COLUMN is_sliced_job`);
  }
}
