import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the activity entries that wait for the log aggregator, and the state of its sender. */
export class ForwardActivity1795811000000 implements MigrationInterface {
  name = 'ForwardActivity1795811000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "activity_deliveries" ("entry_id" bigint NOT NULL, CONSTRAINT "activity_deliveries_pkey" PRIMARY KEY ("entry_id"))`,
    );
    await runner.query(
      `CREATE TABLE "log_forwarding" ("id" integer NOT NULL, "holder" text NOT NULL DEFAULT '', "lease_until" TIMESTAMP WITH TIME ZONE, "dropped" bigint NOT NULL DEFAULT '0', CONSTRAINT "log_forwarding_pkey" PRIMARY KEY ("id"))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "log_forwarding"`);
    await runner.query(`DROP TABLE "activity_deliveries"`);
  }
}
