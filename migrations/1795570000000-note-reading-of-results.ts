import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks runs whose results a worker is reading (docs/decisions/0014-queues-and-leases.md). */
export class NoteReadingOfResults1795570000000 implements MigrationInterface {
  name = 'NoteReadingOfResults1795570000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "unified_jobs" ADD "reads_results" boolean NOT NULL DEFAULT false`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "unified_jobs" DROP COLUMN "reads_results"`);
  }
}
