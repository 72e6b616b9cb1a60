import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the execution environment of inventory sources. */
export class NameEnvironmentsOfSources1795492000000 implements MigrationInterface {
  name = 'NameEnvironmentsOfSources1795492000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD COLUMN "execution_environment_id" integer`,
    );
    await runner.query(`CREATE INDEX "unified_job_templates_execution_environment_id_idx"
      ON "unified_job_templates" ("execution_environment_id")
      WHERE (execution_environment_id IS NOT NULL)`);
    await runner.query(`ALTER TABLE "unified_job_templates"
      ADD CONSTRAINT "unified_job_templates_execution_environment_id_fkey"
      FOREIGN KEY ("execution_environment_id") REFERENCES "execution_environments" ("id")
      ON DELETE SET NULL ON UPDATE NO ACTION DEFERRABLE INITIALLY IMMEDIATE`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" DROP COLUMN "execution_environment_id"`,
    );
  }
}
