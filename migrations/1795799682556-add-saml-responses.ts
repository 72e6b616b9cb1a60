import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddSamlResponses1795799682556 implements MigrationInterface {
  name = 'AddSamlResponses1795799682556';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "saml_responses" ("request" text NOT NULL, "expires" TIMESTAMP WITH TIME ZONE NOT NULL, CONSTRAINT "saml_responses_pkey" PRIMARY KEY ("request"))`,
    );
    await runner.query(
      `CREATE INDEX "saml_responses_expires_idx" ON "saml_responses"  ("expires") `,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."saml_responses_expires_idx"`);
    await runner.query(`DROP TABLE "saml_responses"`);
  }
}
