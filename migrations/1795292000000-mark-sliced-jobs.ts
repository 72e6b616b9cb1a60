import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks sliced jobs, so that they are known after the deletion of their job template. */
export class MarkSlicedJobs1795292000000 implements MigrationInterface {
  name = 'MarkSlicedJobs1795292000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE unified_jobs ADD is_sliced_job boolean DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE unified_jobs DROP COLUMN is_sliced_job`);
  }
}
