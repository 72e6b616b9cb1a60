import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the artifacts that jobs set under `no_log` for later nodes of their workflow, encrypted. */
export class KeepSecretStatistics1795329064974 implements MigrationInterface {
  name = 'KeepSecretStatistics1795329064974';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" ADD "secret_artifacts" text DEFAULT ''`);
    await runner.query(
      `ALTER TABLE "workflow_job_nodes" ADD "secret_artifacts" text NOT NULL DEFAULT ''`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "workflow_job_nodes" DROP COLUMN "secret_artifacts"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "secret_artifacts"`);
  }
}
