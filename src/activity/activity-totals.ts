import { totalsBy } from '../common/resource/kept-totals.js';

/**
 * Types that stand without an id in the totals: nobody holds a role on such an object, so the rule of
 * activity never asks which one an entry names, and there may be as many as entries. As it was when
 * the totals were first made (migrations/1795510000000-count-histories.ts).
 */
export const UNNAMED: readonly string[] = [
  ...['host', 'group', 'label', 'schedule', 'job', 'project_update', 'inventory_update'],
  ...['ad_hoc_command', 'workflow_job', 'workflow_job_template_node', 'workflow_approval'],
  ...['o_auth2_access_token', 'inventory_source', 'notification_template'],
];

/** How many entries there are of each author, organization and object: what their rule speaks of. */
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
