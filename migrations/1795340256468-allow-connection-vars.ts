import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AllowConnectionVars1795340256468 implements MigrationInterface {
  name = 'AllowConnectionVars1795340256468';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD "allow_connection_vars" boolean DEFAULT false`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_job_templates" DROP COLUMN "allow_connection_vars"`);
  }
}
