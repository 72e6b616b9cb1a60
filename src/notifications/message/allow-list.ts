import { isRecord } from '../../common/records.js';

/**
 * Keys of a run that templates can read (docs/contract/notifications.md#what-templates-may-read);
 * variables and credentials are excluded deliberately.
 */
export const JOB_KEYS: readonly string[] = [
  'id',
  'type',
  'url',
  'created',
  'modified',
  'name',
  'description',
  'job_type',
  'playbook',
  'forks',
  'limit',
  'verbosity',
  'job_tags',
  'force_handlers',
  'skip_tags',
  'start_at_task',
  'timeout',
  'use_fact_cache',
  'launch_type',
  'status',
  'failed',
  'started',
  'finished',
  'elapsed',
  'job_explanation',
  'execution_node',
  'controller_node',
  'allow_simultaneous',
  'scm_revision',
  'diff_mode',
  'job_slice_number',
  'job_slice_count',
  'custom_virtualenv',
  'scm_branch',
  'artifacts',
  'approval_status',
  'approval_node_name',
  'workflow_url',
];

const NAMED = ['id', 'name', 'description'] as const;

/** Keys of `job.summary_fields` that templates can read. */
export const SUMMARY_KEYS: Readonly<Record<string, readonly string[]>> = {
  inventory: [
    ...NAMED,
    'has_active_failures',
    'total_hosts',
    'hosts_with_active_failures',
    'total_groups',
    'has_inventory_sources',
    'total_inventory_sources',
    'inventory_sources_with_failures',
    'organization_id',
    'kind',
  ],
  project: [...NAMED, 'status', 'scm_type'],
  job_template: NAMED,
  unified_job_template: [...NAMED, 'unified_job_type'],
  instance_group: ['name', 'id'],
  created_by: ['id', 'username', 'first_name', 'last_name'],
  schedule: [...NAMED, 'next_run'],
  labels: ['count', 'results'],
};

export const HOST_STATUS_KEYS = [
  'skipped',
  'ok',
  'changed',
  'failed',
  'failures',
  'dark',
  'processed',
  'rescued',
  'ignored',
] as const;

/** Copies the listed own keys of an object; returns {} for any other value. */
export function pick(source: unknown, keys: readonly string[]): Record<string, unknown> {
  if (!isRecord(source)) return {};
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(source, key)).map((key) => [key, source[key]]),
  );
}
