import { Column, Entity, ForeignKey, Index } from 'typeorm';
import {
  Bool,
  Char,
  Choices,
  Integer,
  Reference,
  Variables,
  type FieldOptions,
} from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { ident } from '../database/sql.js';
import { sourceCounts } from './source-counts.js';
import { LinkRow, LinkTo, SET_NULL } from '../database/table.js';

const COUNTER = { readOnly: true, default: 0 } as const;
/** Options of a field that is computed from other rows when it is displayed. */
const COMPUTED = { readOnly: true, column: null } as const;
const sourceCount = (name: keyof ReturnType<typeof sourceCounts>): FieldOptions => ({
  ...COMPUTED,
  computed: (alias) => sourceCounts(ident(alias, 'id'))[name],
});

export const INVENTORY_KINDS = [
  ['', 'Inventory'],
  ['smart', 'Smart inventory'],
  ['constructed', 'Constructed inventory'],
] as const;

@Entity('inventories')
@Index('inventories_organization_name_key', ['organization_id', 'name'], { unique: true })
@Index('inventories_name_order_idx', ['name', 'id'])
export class Inventory extends NamedEntity {
  @Reference('organization', {
    required: true,
    needs: 'inventory_admin',
    help: 'Organization the inventory belongs to.',
  })
  organization!: Reference;

  @Choices(INVENTORY_KINDS, {
    help: 'Origin of the hosts: the inventory itself, host_filter, or the input inventories.',
  })
  kind!: string;

  @Char({ nullable: true, max: 4096, help: 'Filter of a smart inventory.' })
  host_filter!: string | null;

  @Variables({ help: 'Variables of all hosts, JSON or YAML.' })
  variables!: string;

  /**
   * Triggers on hosts and groups maintain the counters, which are exact as of the last commit.
   */
  @Bool({ readOnly: true, help: 'A host failed in its last job.' })
  has_active_failures!: boolean;

  @Integer({ ...COUNTER, help: 'Number of hosts.' })
  total_hosts!: number;

  @Integer({ ...COUNTER, help: 'Number of hosts that failed in their last job.' })
  hosts_with_active_failures!: number;

  @Integer({ ...COUNTER, help: 'Number of groups.' })
  total_groups!: number;

  @Bool({ ...sourceCount('has_inventory_sources'), help: 'The inventory has sources.' })
  has_inventory_sources!: boolean;

  @Integer({ ...sourceCount('total_inventory_sources'), help: 'Number of sources.' })
  total_inventory_sources!: number;

  @Integer({
    ...sourceCount('inventory_sources_with_failures'),
    help: 'Number of sources whose last update failed.',
  })
  inventory_sources_with_failures!: number;

  @Bool({ readOnly: true, help: 'The inventory is being deleted.' })
  pending_deletion!: boolean;

  @Bool({ help: 'Keep jobs from falling back to the instance groups of the organization.' })
  prevent_instance_group_fallback!: boolean;
}

@Entity('inventory_labels')
@Index('inventory_labels_key', ['inventory_id', 'label_id'], { unique: true })
export class InventoryLabel extends LinkRow {
  @LinkTo('inventories')
  inventory_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}

/**
 * Input of a constructed inventory, in the order of ids. The user who attached an input must have
 * permission to use it (docs/decisions/0079-derived-inventories.md).
 */
@Entity('inventory_inputs')
@Index('inventory_inputs_key', ['inventory_id', 'input_id'], { unique: true })
export class InventoryInput extends LinkRow {
  @LinkTo('inventories')
  inventory_id!: number;

  @LinkTo('inventories', { index: true })
  input_id!: number;

  @Column({ type: 'integer', nullable: true })
  @ForeignKey('users', SET_NULL)
  @Index()
  attached_by_id!: number | null;
}
