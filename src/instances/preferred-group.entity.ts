import { Entity, Index } from 'typeorm';
import { LinkRow, LinkTo } from '../database/table.js';

/** Instance group of an organization; the order of ids is that of preference. */
@Entity('organization_instance_groups')
@Index('organization_instance_groups_key', ['organization_id', 'instance_group_id'], {
  unique: true,
})
export class OrganizationInstanceGroup extends LinkRow {
  @LinkTo('organizations')
  organization_id!: number;

  @LinkTo('instance_groups', { index: true })
  instance_group_id!: number;
}

/** Instance group of an inventory; the order of ids is that of preference. */
@Entity('inventory_instance_groups')
@Index('inventory_instance_groups_key', ['inventory_id', 'instance_group_id'], { unique: true })
export class InventoryInstanceGroup extends LinkRow {
  @LinkTo('inventories')
  inventory_id!: number;

  @LinkTo('instance_groups', { index: true })
  instance_group_id!: number;
}

/** Instance group of a job template; the order of ids is that of preference. */
@Entity('job_template_instance_groups')
@Index('job_template_instance_groups_key', ['job_template_id', 'instance_group_id'], {
  unique: true,
})
export class JobTemplateInstanceGroup extends LinkRow {
  @LinkTo('unified_job_templates')
  job_template_id!: number;

  @LinkTo('instance_groups', { index: true })
  instance_group_id!: number;
}
