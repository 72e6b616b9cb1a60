import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks instances that are removed after their last worker has ended. */
export class RemoveEphemeralInstances1795924000000 implements MigrationInterface {
  name = 'RemoveEphemeralInstances1795924000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "instances" ADD "is_ephemeral" boolean NOT NULL DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "instances" DROP COLUMN "is_ephemeral"`);
  }
}
