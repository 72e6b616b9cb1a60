import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns that refer to an execution environment, by table. */
const REFERENCES = [
  ['workflow_job_nodes', 'execution_environment_id'],
  ['workflow_job_template_nodes', 'execution_environment_id'],
  ['schedules', 'execution_environment_id'],
  ['unified_job_templates', 'default_environment_id'],
  ['organizations', 'default_environment_id'],
] as const;

/** Adds the environments of runs, saved launches and defaults (docs/decisions/0116-containers.md). */
export class RunInEnvironments1795630000000 implements MigrationInterface {
  name = 'RunInEnvironments1795630000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" ADD "environment" json`);
    await runner.query(`ALTER TABLE "unified_jobs" ADD "environment_digest" text DEFAULT ''`);
    for (const [table, column] of REFERENCES) {
      await runner.query(`ALTER TABLE "${table}" ADD "${column}" integer`);
      await runner.query(`CREATE INDEX "${table}_${column}_idx" ON "${table}" ("${column}")
        WHERE (${column} IS NOT NULL)`);
      await runner.query(`ALTER TABLE "${table}" ADD CONSTRAINT "${table}_${column}_fkey"
        FOREIGN KEY ("${column}") REFERENCES "execution_environments"("id")
        ON DELETE SET NULL DEFERRABLE INITIALLY IMMEDIATE`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of REFERENCES.toReversed()) {
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "${column}"`);
    }
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "environment_digest"`);
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "environment"`);
  }
}
