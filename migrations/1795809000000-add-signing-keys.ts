import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddSigningKeys1795809000000 implements MigrationInterface {
  name = 'AddSigningKeys1795809000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "signing_keys" ("id" text NOT NULL, "private_key" text NOT NULL, "public_key" jsonb NOT NULL, "created" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(), CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id"))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "signing_keys"`);
  }
}
