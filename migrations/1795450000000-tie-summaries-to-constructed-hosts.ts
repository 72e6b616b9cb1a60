import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the host of the constructed inventory to summaries, which refer to its source host. */
export class TieSummariesToConstructedHosts1795450000000 implements MigrationInterface {
  name = 'TieSummariesToConstructedHosts1795450000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "job_host_summaries" ADD "constructed_host_id" integer`);
    await runner.query(`ALTER TABLE "job_host_summaries"
      ADD CONSTRAINT "job_host_summaries_constructed_host_id_fkey"
      FOREIGN KEY ("constructed_host_id") REFERENCES "hosts" ("id")
      ON DELETE SET NULL ON UPDATE NO ACTION DEFERRABLE INITIALLY IMMEDIATE`);
    await runner.query(`CREATE INDEX "job_host_summaries_constructed_host_id_idx"
      ON "job_host_summaries" ("constructed_host_id") WHERE (constructed_host_id IS NOT NULL)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "job_host_summaries" DROP COLUMN "constructed_host_id"`);
  }
}
