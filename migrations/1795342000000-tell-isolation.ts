import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TellIsolation1795342000000 implements MigrationInterface {
  name = 'TellIsolation1795342000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "instances" ADD "isolation" text NOT NULL DEFAULT ''`);
    await runner.query(`ALTER TABLE "instances" ADD "isolation_detail" text NOT NULL DEFAULT ''`);
    await runner.query(`ALTER TABLE "unified_jobs" ADD "isolation" text DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "isolation"`);
    await runner.query(`ALTER TABLE "instances" DROP COLUMN "isolation_detail"`);
    await runner.query(`ALTER TABLE "instances" DROP COLUMN "isolation"`);
  }
}
