import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Columns with ids of runs and their parts, activity, deliveries and notifications, by table. A later
 * migration widens those of `job_events`, together with its partitions.
 */
const WIDENED: Readonly<Record<string, readonly string[]>> = {
  unified_jobs: [
    'id',
    'project_update_id',
    'source_project_update_id',
    'workflow_job_id',
    'webhook_delivery_id',
  ],
  unified_job_templates: ['current_job_id', 'last_job_id'],
  hosts: ['last_job_id', 'last_job_host_summary_id'],
  job_credentials: ['id', 'job_id'],
  job_labels: ['id', 'job_id'],
  job_host_summaries: ['id', 'job_id'],
  workflow_job_labels: ['id', 'workflow_job_id'],
  workflow_job_nodes: ['id', 'workflow_job_id', 'job_id'],
  workflow_job_node_credentials: ['id', 'workflow_job_node_id'],
  workflow_job_node_edges: ['id', 'parent_id', 'child_id'],
  workflow_job_node_instance_groups: ['id', 'workflow_job_node_id'],
  workflow_job_node_labels: ['id', 'workflow_job_node_id'],
  webhook_deliveries: ['id', 'job_id', 'redelivery_of_id', 'superseded_by_id'],
  webhook_status_posts: ['id', 'job_id'],
  notifications: ['id', 'unified_job_id', 'resend_of_id'],
  notification_attempts: ['id', 'notification_id'],
  activity_stream: ['id', 'object1_id', 'object2_id', 'parent_id'],
  activity_totals: ['object1_id', 'object2_id', 'parent_id'],
  outbox: ['subject_id'],
};

/** Created again, because PostgreSQL cannot change the type of a column that a trigger names. */
const HOST_FAILURE = `
  CREATE TRIGGER hosts_failure BEFORE UPDATE OF last_job_host_summary_id ON hosts
  FOR EACH ROW EXECUTE FUNCTION host_failure()`;

/**
 * Widens ids of runs, activity, deliveries and notifications beyond 2^31
 * (docs/decisions/0119-bigint-ids.md). PostgreSQL rewrites each table once, with its indexes, under a lock,
 * and widens the sequences of ids itself.
 */
export class WidenIds1795530000000 implements MigrationInterface {
  name = 'WidenIds1795530000000';

  up(runner: QueryRunner): Promise<void> {
    return changeTypes(runner, 'bigint');
  }

  /** Fails if an id exceeds 2^31. */
  down(runner: QueryRunner): Promise<void> {
    return changeTypes(runner, 'integer');
  }
}

async function changeTypes(runner: QueryRunner, type: 'bigint' | 'integer'): Promise<void> {
  await runner.query('DROP TRIGGER hosts_failure ON hosts');
  for (const [table, columns] of Object.entries(WIDENED)) {
    const changes = columns.map((column) => `ALTER COLUMN "${column}" TYPE ${type}`);
    await runner.query(`ALTER TABLE "${table}" ${changes.join(', ')}`);
  }
  await runner.query(HOST_FAILURE);
}
