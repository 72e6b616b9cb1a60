/**
 * Statements that adapt a copy of the database to the limit: they drop the counters and add indexes for
 * lists.
 */

const TRIGGERS = [
  ...['hosts_failure', 'hosts_count_added', 'hosts_count_removed', 'hosts_recount_failures'].map(
    (name) => [name, 'hosts'],
  ),
  ...['groups_count_added', 'groups_count_removed'].map((name) => [name, 'groups']),
  ...['insert', 'update', 'delete'].map((event) => [
    `unified_jobs_count_runs_${event}`,
    'unified_jobs',
  ]),
];

/** Statements for writes: the limit has the schema of the product without the counters. */
export const WITHOUT_COUNTERS = TRIGGERS.map(([name, table]) => `DROP TRIGGER ${name} ON ${table}`);

const INDEXES = [
  'hosts (inventory_id, id)',
  'groups (inventory_id, id)',
  'teams (organization_id, name, id)',
  'unified_jobs (finished DESC, id) INCLUDE (type)',
  'unified_jobs (type, finished DESC, id)',
  'unified_jobs (type, created DESC, id)',
  'unified_jobs (type, status, finished DESC, id)',
  'unified_jobs (type, job_template_id, finished DESC, id)',
  'unified_jobs (type, organization_id, id DESC)',
  'unified_jobs (type, unified_job_template_id, id)',
  'unified_jobs (unified_job_template_id, type, finished DESC, id)',
  'activity_stream (timestamp DESC, id)',
  'webhook_deliveries (template_id, id DESC)',
  'notifications (created DESC, id)',
  'notifications (notification_template_id, id DESC)',
  'hosts USING gin (name gin_trgm_ops)',
  'hosts USING gin (description gin_trgm_ops)',
  'unified_jobs USING gin (name gin_trgm_ops)',
  'unified_jobs USING gin (description gin_trgm_ops)',
];

/**
 * Statistics of every row of tables up to 3,000,000 instead of a sample, so that plans are the same in every
 * run. Writes, which are planned each time, would be slower.
 */
const FULL_STATISTICS = 'SET default_statistics_target = 10000';

/** Statements for reads. The same session then analyzes the tables. */
export const COVERED = [
  'CREATE EXTENSION IF NOT EXISTS pg_trgm',
  ...INDEXES.map((index) => `CREATE INDEX ON ${index}`),
  FULL_STATISTICS,
];
