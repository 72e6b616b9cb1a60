import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the state of users that their directory no longer has, and the time of its last synchronization. */
export class DisableUsers1795812000000 implements MigrationInterface {
  name = 'DisableUsers1795812000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "users" ADD "is_disabled" boolean NOT NULL DEFAULT false`);
    await runner.query(`ALTER TABLE "authenticators" ADD "synced_at" TIMESTAMP WITH TIME ZONE`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "authenticators" DROP COLUMN "synced_at"`);
    await runner.query(`ALTER TABLE "users" DROP COLUMN "is_disabled"`);
  }
}
