import type { KeptTotals } from '../common/resource/kept-totals.js';
import { defineTable } from '../database/table.js';

const reference = { type: 'integer', nullable: true } as const;

/**
 * Table with the number of runs by kind, status, template, organization and inventory: the columns
 * that rules and filters of long lists use (docs/decisions/0110-kept-totals.md). Triggers on
 * `unified_jobs` maintain it. Several rows can have the same `key`; their sum is the total.
 */
defineTable({
  name: 'run_totals',
  columns: {
    id: { type: 'integer', primary: true, identity: true },
    /** The columns below except the totals, as one text. */
    key: { type: 'text' },
    type: { type: 'text' },
    status: { type: 'text' },
    unified_job_template_id: reference,
    job_template_id: reference,
    organization_id: reference,
    inventory_id: reference,
    is_bulk_job: { type: 'boolean', nullable: true },
    total: { type: 'integer' },
    /** Number of stored events of these runs. */
    event_total: { type: 'bigint', default: '0' },
  },
  indexes: [{ name: 'run_totals_key_idx', columns: ['key'] }],
});

export const RUN_TOTALS: KeptTotals = {
  table: 'run_totals',
  total: 'total',
  columns: {
    type: 'type',
    status: 'status',
    unified_job_template_id: 'unified_job_template_id',
    job_template_id: 'job_template_id',
    organization_id: 'organization_id',
    inventory_id: 'inventory_id',
    is_bulk_job: 'is_bulk_job',
  },
};

/**
 * Returns the configuration of event totals for users who see the runs
 * (docs/decisions/0110-kept-totals.md).
 */
export const eventTotals = (rule: NonNullable<KeptTotals['rule']>): KeptTotals => ({
  ...RUN_TOTALS,
  total: 'event_total',
  rule,
});
