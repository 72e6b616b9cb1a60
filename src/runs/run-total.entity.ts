import { Column, Entity, Index } from 'typeorm';
import type { StoredTotals } from '../common/resource/stored-totals.js';
import { GeneratedId } from '../database/table.js';

/**
 * Number of runs by the columns that rules and filters of long lists use
 * (docs/decisions/0110-kept-totals.md). Triggers on `unified_jobs` maintain the table. Several rows can have
 * the same `key`; their sum is the total.
 */
@Entity('run_totals')
export class RunTotal {
  @GeneratedId()
  id!: number;

  /** The columns below except the totals, as one text. */
  @Column('text')
  @Index()
  key!: string;

  @Column('text')
  type!: string;

  @Column('text')
  status!: string;

  @Column({ type: 'integer', nullable: true })
  unified_job_template_id!: number | null;

  @Column({ type: 'integer', nullable: true })
  job_template_id!: number | null;

  @Column({ type: 'integer', nullable: true })
  organization_id!: number | null;

  @Column({ type: 'integer', nullable: true })
  inventory_id!: number | null;

  @Column({ type: 'boolean', nullable: true })
  is_bulk_job!: boolean | null;

  @Column('integer')
  total!: number;

  /** Number of stored events of these runs. */
  @Column({ type: 'bigint', default: 0 })
  event_total!: number;
}

export const RUN_TOTALS: StoredTotals = {
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
export const eventTotals = (rule: NonNullable<StoredTotals['rule']>): StoredTotals => ({
  ...RUN_TOTALS,
  total: 'event_total',
  rule,
});
