import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED = [
  ['hosts_inventory_id_idx', 'hosts', '"inventory_id", "id"'],
  ['groups_inventory_id_idx', 'groups', '"inventory_id", "id"'],
  ['unified_jobs_finished_idx', 'unified_jobs', '"finished", "id", "type"'],
  ['unified_jobs_type_finished_idx', 'unified_jobs', '"type", "finished", "id"'],
  ['unified_jobs_created_idx', 'unified_jobs', '"created", "id", "type"'],
  ['unified_jobs_status_finished_idx', 'unified_jobs', '"status", "finished", "id", "type"'],
  ['unified_jobs_job_template_idx', 'unified_jobs', '"job_template_id", "id", "type"'],
  [
    'unified_jobs_job_template_finished_idx',
    'unified_jobs',
    '"job_template_id", "finished", "id", "type"',
  ],
  ['unified_jobs_template_kind_idx', 'unified_jobs', '"unified_job_template_id", "id", "type"'],
  ['unified_jobs_organization_idx', 'unified_jobs', '"organization_id", "id", "type"'],
  ['activity_stream_timestamp_idx', 'activity_stream', '"timestamp", "id"'],
  ['notifications_created_idx', 'notifications', '"created", "id"'],
  ['webhook_deliveries_template_idx', 'webhook_deliveries', '"template_id", "id"'],
] as const;

/** Indexes that one of the above replaces. */
const REMOVED = [
  ['unified_jobs_template_idx', 'unified_jobs', '"unified_job_template_id", "id"'],
  ['unified_jobs_organization_id_idx', 'unified_jobs', '"organization_id"'],
  ['webhook_deliveries_template_id_idx', 'webhook_deliveries', '"template_id"'],
] as const;

const OF_TEXTS = ['hosts', 'groups', 'unified_jobs'] as const;

/**
 * Adds indexes for the filters and orders of lists (docs/decisions/0073-indexes.md). Those for substrings
 * need `pg_trgm`, which the owner of a database can create if it is installed.
 */
export class IndexWhatListsOffer1795350000000 implements MigrationInterface {
  name = 'IndexWhatListsOffer1795350000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, table, columns] of ADDED) {
      await runner.query(`CREATE INDEX "${name}" ON "${table}" (${columns})`);
    }
    for (const [name] of REMOVED) await runner.query(`DROP INDEX "${name}"`);
    await runner.query(`
      DO $$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
      EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
        RAISE NOTICE 'pg_trgm is not here: lists look for parts of texts without an index';
      END $$`);
    for (const table of OF_TEXTS) {
      await runner.query(`
        DO $$ BEGIN
          IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
            CREATE INDEX "${table}_text_idx" ON "${table}"
              USING gin ("name" gin_trgm_ops, "description" gin_trgm_ops);
          END IF;
        END $$`);
    }
  }

  /** Keeps the extension if other objects use it, or if another role owns it. */
  async down(runner: QueryRunner): Promise<void> {
    for (const table of OF_TEXTS) await runner.query(`DROP INDEX IF EXISTS "${table}_text_idx"`);
    await runner.query(`
      DO $$ BEGIN
        DROP EXTENSION IF EXISTS pg_trgm;
      EXCEPTION WHEN dependent_objects_still_exist OR insufficient_privilege THEN
        RAISE NOTICE 'pg_trgm stays';
      END $$`);
    for (const [name, table, columns] of REMOVED) {
      await runner.query(`CREATE INDEX "${name}" ON "${table}" (${columns})`);
    }
    for (const [name] of ADDED) await runner.query(`DROP INDEX "${name}"`);
  }
}
