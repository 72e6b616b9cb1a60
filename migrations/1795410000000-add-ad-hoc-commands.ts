import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the module and the arguments of ad hoc commands. */
export class AddAdHocCommands1795410000000 implements MigrationInterface {
  name = 'AddAdHocCommands1795410000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "unified_jobs"
        ADD COLUMN "module_name" text DEFAULT '',
        ADD COLUMN "module_args" text DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "unified_jobs" DROP COLUMN "module_name", DROP COLUMN "module_args"`);
  }
}
