import type { MigrationInterface, QueryRunner } from 'typeorm';

const OWNED = [
  ...['credential_input_sources', 'credential_types', 'credentials', 'execution_environments'],
  ...['groups', 'hosts', 'inventories', 'labels', 'notification_templates', 'organizations'],
  ...['schedules', 'teams', 'unified_job_templates', 'unified_jobs'],
];

const REFERENCES: readonly (readonly [table: string, column: string])[] = [
  ...OWNED.flatMap((table) => [
    [table, 'created_by_id'] as const,
    [table, 'modified_by_id'] as const,
  ]),
  ['unified_job_templates', 'current_job_id'],
  ['unified_job_templates', 'last_job_id'],
  ['unified_job_templates', 'next_schedule_id'],
  ['unified_jobs', 'approved_or_denied_by_id'],
  ['unified_jobs', 'credential_id'],
  ['unified_jobs', 'inventory_source_id'],
  ['unified_jobs', 'project_update_id'],
  ['unified_jobs', 'webhook_credential_id'],
];

/**
 * Indexes references that deletions check: without an index, the deletion of a user read every host and every
 * run, and the deletion of a run every other run (docs/decisions/0073-indexes.md).
 */
export class IndexReferences1795512000000 implements MigrationInterface {
  name = 'IndexReferences1795512000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, column] of REFERENCES) {
      await runner.query(`CREATE INDEX "${table}_${column}_idx" ON "${table}" ("${column}")
        WHERE ("${column}" IS NOT NULL)`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of REFERENCES) {
      await runner.query(`DROP INDEX "${table}_${column}_idx"`);
    }
  }
}
