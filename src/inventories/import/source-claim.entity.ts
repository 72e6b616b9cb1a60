import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CASCADE, LinkRow, LinkTo } from '../../database/table.js';

/**
 * Claim of a source on an object that it delivered, with the values of its last delivery. Claims
 * distinguish the objects and values of the source from changes by users and other sources, which an
 * import keeps (docs/decisions/0077-inventory-import.md).
 */
export abstract class SourceClaim extends LinkRow {
  @LinkTo('unified_job_templates')
  inventory_source_id!: number;

  /** Variables of the source's last delivery: JSON, or empty. */
  @Column({ type: 'text', default: '' })
  delivered!: string;

  /** MD5 of the variables that the import stored. */
  @Column({ type: 'text', default: '' })
  merged_digest!: string;
}

@Entity('inventory_source_hosts')
@Index('inventory_source_hosts_key', ['inventory_source_id', 'host_id'], { unique: true })
export class InventorySourceHost extends SourceClaim {
  @LinkTo('hosts', { index: true })
  host_id!: number;
}

@Entity('inventory_source_groups')
@Index('inventory_source_groups_key', ['inventory_source_id', 'group_id'], { unique: true })
export class InventorySourceGroup extends SourceClaim {
  @LinkTo('groups', { index: true })
  group_id!: number;
}

/** Variables of the inventory in each source's last delivery. */
@Entity('inventory_source_variables')
export class InventorySourceVariables {
  @PrimaryColumn('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  inventory_source_id!: number;

  @LinkTo('inventories', { index: true })
  inventory_id!: number;

  @Column({ type: 'text', default: '' })
  delivered!: string;
}
