import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ends unused authorization codes together with the sessions of their user. */
export class EndCodesWithSessions1795921000000 implements MigrationInterface {
  name = 'EndCodesWithSessions1795921000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "authorization_codes" ADD "generation" integer`);
    await runner.query(`UPDATE "authorization_codes" SET "generation" =
      (SELECT "session_generation" FROM "users" WHERE "id" = "user_id")`);
    await runner.query(`ALTER TABLE "authorization_codes" ALTER COLUMN "generation" SET NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "authorization_codes" DROP COLUMN "generation"`);
  }
}
