import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow, SET_NULL } from '../database/table.js';

/** Host in a group. */
@Entity('group_hosts')
@Index('group_hosts_key', ['group_id', 'host_id'], { unique: true })
export class GroupHost extends LinkRow {
  @Column('integer')
  @ForeignKey('groups', CASCADE)
  group_id!: number;

  @Column('integer')
  @ForeignKey('hosts', CASCADE)
  @Index()
  host_id!: number;
}

/** Group within a group. */
@Entity('group_children')
@Index('group_children_key', ['child_id', 'parent_id'], { unique: true })
export class GroupChild extends LinkRow {
  @Column('integer')
  @ForeignKey('groups', CASCADE)
  child_id!: number;

  @Column('integer')
  @ForeignKey('groups', CASCADE)
  @Index()
  parent_id!: number;
}

/** Label of an inventory. */
@Entity('inventory_labels')
@Index('inventory_labels_key', ['inventory_id', 'label_id'], { unique: true })
export class InventoryLabel extends LinkRow {
  @Column('integer')
  @ForeignKey('inventories', CASCADE)
  inventory_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Instance group of an inventory; the order of ids is that of preference. */
@Entity('inventory_instance_groups')
@Index('inventory_instance_groups_key', ['inventory_id', 'instance_group_id'], { unique: true })
export class InventoryInstanceGroup extends LinkRow {
  @Column('integer')
  @ForeignKey('inventories', CASCADE)
  inventory_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

/**
 * Input of a constructed inventory, in the order of ids. The user who attached an input must have
 * permission to use it (docs/decisions/0079-derived-inventories.md).
 */
@Entity('inventory_inputs')
@Index('inventory_inputs_key', ['inventory_id', 'input_id'], { unique: true })
export class InventoryInput extends LinkRow {
  @Column('integer')
  @ForeignKey('inventories', CASCADE)
  inventory_id!: number;

  @Column('integer')
  @ForeignKey('inventories', CASCADE)
  @Index()
  input_id!: number;

  @Column({ type: 'integer', nullable: true })
  @ForeignKey('users', SET_NULL)
  @Index()
  attached_by_id!: number | null;
}
