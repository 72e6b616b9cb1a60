import { totalsBy } from '../common/resource/kept-totals.js';

/**
 * Types that are counted without ids. No roles exist on their objects, so the read rule of activity never
 * depends on the id, and there could be as many ids as entries. The list must match the migration that
 * created the totals (migrations/1795510000000-count-histories.ts).
 */
export const UNNAMED: readonly string[] = [
  'host',
  'group',
  'label',
  'schedule',
  'job',
  'project_update',
  'inventory_update',
  'ad_hoc_command',
  'workflow_job',
  'workflow_job_template_node',
  'workflow_approval',
  'o_auth2_access_token',
  'inventory_source',
  'notification_template',
];

/** Numbers of entries by author, organization and object: the columns of the read rule. */
export const ACTIVITY_TOTALS = totalsBy('activity_totals', {
  actor_id: 'integer',
  organization_id: 'integer',
  object1: 'text',
  object1_id: 'bigint',
  object2: 'text',
  object2_id: 'bigint',
  parent_type: 'text',
  parent_id: 'bigint',
});
