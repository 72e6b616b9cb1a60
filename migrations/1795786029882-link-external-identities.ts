import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Makes links of users to accounts of providers a resource (docs/single-sign-on.md#links). */
export class LinkExternalIdentities1795786029882 implements MigrationInterface {
  name = 'LinkExternalIdentities1795786029882';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "external_identities" ADD "modified" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()`,
    );
    await runner.query(`ALTER TABLE "external_identities" ALTER COLUMN "subject" SET DEFAULT ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "external_identities" ALTER COLUMN "subject" DROP DEFAULT`);
    await runner.query(`ALTER TABLE "external_identities" DROP COLUMN "modified"`);
  }
}
