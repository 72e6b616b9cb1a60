import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED = [
  ['hosts_created_idx', 'hosts', '"created", "id"'],
  ['hosts_modified_idx', 'hosts', '"modified", "id"'],
  ['groups_created_idx', 'groups', '"created", "id"'],
  ['groups_modified_idx', 'groups', '"modified", "id"'],
  ['unified_jobs_name_idx', 'unified_jobs', '"name", "id", "type"'],
  ['unified_jobs_started_idx', 'unified_jobs', '"started", "id", "type"'],
  ['unified_jobs_launch_type_idx', 'unified_jobs', '"launch_type", "id", "type"'],
  ['unified_jobs_failed_idx', 'unified_jobs', '"finished", "id", "type"', 'failed'],
  ['job_events_created_idx', 'job_events', '"created", "id"'],
] as const;

/**
 * Indexes the creation and modification of hosts and groups, the names, starts, launch types and failures of
 * runs, and the creation of events (docs/decisions/0073-indexes.md).
 */
export class IndexTimes1795550000000 implements MigrationInterface {
  name = 'IndexTimes1795550000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, table, columns, where] of ADDED) {
      const condition = where === undefined ? '' : ` WHERE ${where}`;
      await runner.query(`CREATE INDEX "${name}" ON "${table}" (${columns})${condition}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of ADDED) await runner.query(`DROP INDEX "${name}"`);
  }
}
