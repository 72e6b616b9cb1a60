import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CoalesceWebhooks1795290691108 implements MigrationInterface {
  name = 'CoalesceWebhooks1795290691108';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_job_templates" ADD "webhook_coalesce" boolean DEFAULT false`,
    );
    await runner.query(`ALTER TABLE "webhook_deliveries" ADD "superseded_by_id" integer`);
    await runner.query(`ALTER TABLE "webhook_deliveries" ADD "push_ref" text`);
    await runner.query(
      `CREATE INDEX "webhook_deliveries_superseded_by_id_idx" ON "webhook_deliveries"  ("superseded_by_id") `,
    );
    await runner.query(
      `ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_superseded_by_id_fkey" FOREIGN KEY ("superseded_by_id") REFERENCES "webhook_deliveries"("id") ON DELETE SET NULL ON UPDATE NO ACTION`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_superseded_by_id_fkey"`,
    );
    await runner.query(`DROP INDEX "public"."webhook_deliveries_superseded_by_id_idx"`);
    await runner.query(`ALTER TABLE "webhook_deliveries" DROP COLUMN "push_ref"`);
    await runner.query(`ALTER TABLE "webhook_deliveries" DROP COLUMN "superseded_by_id"`);
    await runner.query(`ALTER TABLE "unified_job_templates" DROP COLUMN "webhook_coalesce"`);
  }
}
