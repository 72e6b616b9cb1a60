import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED = [
  ['webhook_deliveries_received_idx', 'webhook_deliveries', '"received", "id"'],
  ['webhook_deliveries_verdict_idx', 'webhook_deliveries', '"verdict", "id"'],
  ['webhook_deliveries_event_idx', 'webhook_deliveries', '"event", "id"'],
  ['webhook_deliveries_guid_idx', 'webhook_deliveries', '"guid", "id"'],
  ['activity_stream_operation_idx', 'activity_stream', '"operation", "id"'],
] as const;

/** Indexes common filters of delivery logs and activity (docs/decisions/0073-indexes.md). */
export class IndexHistories1795513000000 implements MigrationInterface {
  name = 'IndexHistories1795513000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, table, columns] of ADDED) {
      await runner.query(`CREATE INDEX "${name}" ON "${table}" (${columns})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of ADDED) await runner.query(`DROP INDEX "${name}"`);
  }
}
