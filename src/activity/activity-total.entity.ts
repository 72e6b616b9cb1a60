import { Column, Entity } from 'typeorm';
import { TotalRow, totalsBy } from '../common/resource/stored-totals.js';

/**
 * Types that are counted without ids. No roles exist on their objects, so the read rule of activity never
 * depends on the id, and there could be as many ids as entries. The list must match the migration that
 * created the totals (migrations/1795510000000-count-histories.ts).
 */
export const TYPES_WITHOUT_IDS: readonly string[] = [
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

/** Number of entries by author, organization and object: the columns of the read rule. */
@Entity('activity_totals')
export class ActivityTotal extends TotalRow {
  @Column({ type: 'integer', nullable: true })
  actor_id!: number | null;

  @Column({ type: 'integer', nullable: true })
  organization_id!: number | null;

  @Column({ type: 'text', nullable: true })
  object1!: string | null;

  @Column({ type: 'bigint', nullable: true })
  object1_id!: number | null;

  @Column({ type: 'text', nullable: true })
  object2!: string | null;

  @Column({ type: 'bigint', nullable: true })
  object2_id!: number | null;

  @Column({ type: 'text', nullable: true })
  parent_type!: string | null;

  @Column({ type: 'bigint', nullable: true })
  parent_id!: number | null;
}

export const ACTIVITY_TOTALS = totalsBy(ActivityTotal);
