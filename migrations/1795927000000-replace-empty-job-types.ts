import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replaces empty job types, which are no longer accepted: such templates ran with changes. */
export class ReplaceEmptyJobTypes1795927000000 implements MigrationInterface {
  name = 'ReplaceEmptyJobTypes1795927000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE unified_job_templates SET job_type = 'run'
      WHERE type = 'job_template' AND job_type = ''`);
  }

  async down(): Promise<void> {}
}
