import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['organizations', 'unified_job_templates'];

/** Adds the retention of runs of organizations and templates (docs/contract/system-jobs.md#own-retention). */
export class AddRetention1795620000000 implements MigrationInterface {
  name = 'AddRetention1795620000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}"
        ADD COLUMN "retention_days" integer, ADD COLUMN "retention_runs" integer`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE "${table}"
        DROP COLUMN "retention_days", DROP COLUMN "retention_runs"`);
    }
  }
}
