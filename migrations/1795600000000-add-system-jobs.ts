import type { MigrationInterface, QueryRunner } from 'typeorm';

const TEMPLATES = [
  ['cleanup_jobs', 'Cleanup Job Details', 'Remove job history'],
  ['cleanup_activitystream', 'Cleanup Activity Stream', 'Remove activity stream history'],
  ['cleanup_sessions', 'Cleanup Expired Sessions', 'Remove expired browser sessions'],
  ['cleanup_tokens', 'Cleanup Expired OAuth 2 Tokens', 'Remove expired access tokens'],
  ['cleanup_notifications', 'Cleanup Notifications', 'Remove notification history'],
  [
    'cleanup_webhook_deliveries',
    'Cleanup Webhook Deliveries',
    'Remove the history of webhook deliveries',
  ],
] as const;

/** Adds the templates of system jobs (docs/contract/system-jobs.md). */
export class AddSystemJobs1795600000000 implements MigrationInterface {
  name = 'AddSystemJobs1795600000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [kind, name, description] of TEMPLATES) {
      await runner.query(
        `INSERT INTO unified_job_templates (type, job_type, name, description, status)
        VALUES ('system_job_template', $1, $2, $3, 'ok')`,
        [kind, name, description],
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM unified_jobs WHERE type = 'system_job'`);
    await runner.query(`DELETE FROM unified_job_templates WHERE type = 'system_job_template'`);
  }
}
