import type { KeptTotals } from '../common/resource/kept-totals.js';
import { defineTable } from '../database/table.js';

const id = { type: 'integer', nullable: true } as const;
const type = { type: 'text', nullable: true } as const;

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

const COLUMNS = {
  actor_id: id,
  organization_id: id,
  object1: type,
  object1_id: id,
  object2: type,
  object2_id: id,
  parent_type: type,
  parent_id: id,
};

/**
 * How many entries there are of each author, organization and object: what their rule speaks of
 * (docs/decisions/0110-totals-of-what-runs-leave.md). Triggers on `activity_stream` keep it. Several rows
 * may have the same `key`; their sum is meant.
 */
defineTable({
  name: 'activity_totals',
  columns: {
    id: { type: 'integer', primary: true, identity: true },
    /** What follows but the total, in one text. */
    key: { type: 'text' },
    ...COLUMNS,
    total: { type: 'bigint' },
  },
  indexes: [{ name: 'activity_totals_key_idx', columns: ['key'] }],
});

export const ACTIVITY_TOTALS: KeptTotals = {
  table: 'activity_totals',
  total: 'total',
  columns: Object.fromEntries(Object.keys(COLUMNS).map((column) => [column, column])),
};
