import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the key that must have signed the files of a project (docs/contract/runs.md#signed-content). */
export class AddSignatureChecks1795797750727 implements MigrationInterface {
  name = 'AddSignatureChecks1795797750727';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD "signature_validation_credential_id" integer`,
    );
    await runner.query(
      `CREATE INDEX "unified_job_templates_signature_validation_credential_id_idx" ON "unified_job_templates"  ("signature_validation_credential_id") WHERE (signature_validation_credential_id IS NOT NULL)`,
    );
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD CONSTRAINT "unified_job_templates_signature_validation_credential_id_fkey" FOREIGN KEY ("signature_validation_credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL ON UPDATE NO ACTION DEFERRABLE INITIALLY IMMEDIATE`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" DROP CONSTRAINT "unified_job_templates_signature_validation_credential_id_fkey"`,
    );
    await runner.query(
      `DROP INDEX "public"."unified_job_templates_signature_validation_credential_id_idx"`,
    );
    await runner.query(
      `ALTER TABLE "unified_job_templates" DROP COLUMN "signature_validation_credential_id"`,
    );
  }
}
