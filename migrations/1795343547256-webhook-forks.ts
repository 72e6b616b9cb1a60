import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookForks1795343547256 implements MigrationInterface {
  name = 'WebhookForks1795343547256';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD "webhook_dedupe_body" boolean DEFAULT false`,
    );
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD "webhook_forks" text DEFAULT 'always'`,
    );
    await runner.query(`ALTER TABLE "webhook_deliveries" ADD "body_digest" text`);
    await runner.query(
      `CREATE UNIQUE INDEX "webhook_deliveries_body_digest" ON "webhook_deliveries"  ("template_id", "body_digest") `,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "public"."webhook_deliveries_body_digest"`);
    await runner.query(`ALTER TABLE "webhook_deliveries" DROP COLUMN "body_digest"`);
    await runner.query(`ALTER TABLE "unified_job_templates" DROP COLUMN "webhook_forks"`);
    await runner.query(`ALTER TABLE "unified_job_templates" DROP COLUMN "webhook_dedupe_body"`);
  }
}
