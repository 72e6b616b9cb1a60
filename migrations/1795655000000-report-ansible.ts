import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the releases of Ansible that instances use (docs/contract/resources.md#instances). */
export class ReportAnsible1795655000000 implements MigrationInterface {
  name = 'ReportAnsible1795655000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "instances" ADD "ansible_version" text NOT NULL DEFAULT '',
         ADD "ansible_runner_version" text NOT NULL DEFAULT ''`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "instances" DROP COLUMN "ansible_version", DROP COLUMN "ansible_runner_version"`,
    );
  }
}
