import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeepEnvironmentsOfRuns1795751994628 implements MigrationInterface {
  name = 'KeepEnvironmentsOfRuns1795751994628';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" ADD "environment" json`);
    await runner.query(`ALTER TABLE "unified_jobs" ADD "environment_digest" text DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "environment_digest"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "environment"`);
  }
}
