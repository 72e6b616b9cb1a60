import { Entity, Index, Column, ForeignKey, PrimaryColumn } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import {
  Bool,
  Char,
  Choices,
  DateTime,
  Integer,
  Reference,
  Variables,
  type FieldOptions,
} from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { ident } from '../database/sql.js';
import { isClaimed } from './import/imported-objects.repository.js';
import { sourceCounts } from './source-counts.js';
import { CASCADE, LinkRow, LinkTo, SET_NULL } from '../database/table.js';

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

@Entity('hosts')
// Includes the column for visibility, so that a page far from the start reads no earlier host.
@Index('hosts_name_order_idx', ['name', 'id', 'inventory_id'])
@Index('hosts_inventory_id_idx', ['inventory_id', 'id'])
@Index('hosts_created_idx', ['created', 'id'])
@Index('hosts_modified_idx', ['modified', 'id'])
// By trigrams, see docs/decisions/0073-indexes.md.
@Index('hosts_text_idx', { synchronize: false })
@Index('hosts_inventory_name_key', ['inventory_id', 'name'], { unique: true })
export class Host extends NamedEntity {
  @Reference('inventory', {
    required: true,
    immutable: true,
    needs: 'change',
    help: 'Inventory the host belongs to; fixed on creation.',
    index: false,
  })
  inventory!: Reference;

  @Bool({ default: true, nullMeansAbsent: true, help: 'True if jobs run against the host.' })
  enabled!: boolean;

  @Char({ max: 1024, help: 'Id of the host in its source system.' })
  instance_id!: string;

  @Variables({ help: 'Variables of the host, JSON or YAML.' })
  variables!: string;

  /** Maintained by a trigger on `last_job_host_summary`. */
  @Bool({ readOnly: true, help: 'The host failed in its last job.' })
  has_active_failures!: boolean;

  @Bool({
    ...COMPUTED,
    computed: (alias) => isClaimed(ident(alias, 'id')),
    help: 'True if a source of the inventory delivered the host.',
  })
  has_inventory_sources!: boolean;

  /** True if a source created the host, false if a user created it. */
  @Bool({ internal: true })
  is_imported!: boolean;

  @Reference('job', {
    ...WIDE,
    readOnly: true,
    nullable: true,
    index: 'where set',
    help: 'Last job that ran on the host.',
  })
  last_job!: Reference | null;

  @Reference('job_host_summary', {
    ...WIDE,
    readOnly: true,
    nullable: true,
    index: 'where set',
    help: 'Result of the last job on the host.',
  })
  last_job_host_summary!: Reference | null;

  @DateTime({ readOnly: true, nullable: true, help: 'Time at which the facts were stored.' })
  ansible_facts_modified!: string | null;
}

@Entity('groups')
@Index('groups_inventory_id_idx', ['inventory_id', 'id'])
@Index('groups_created_idx', ['created', 'id'])
@Index('groups_modified_idx', ['modified', 'id'])
// By trigrams, see docs/decisions/0073-indexes.md.
@Index('groups_text_idx', { synchronize: false })
@Index('groups_inventory_name_key', ['inventory_id', 'name'], { unique: true })
@Index('groups_name_order_idx', ['name', 'id'])
export class Group extends NamedEntity {
  @Reference('inventory', {
    required: true,
    immutable: true,
    needs: 'change',
    help: 'Inventory the group belongs to; fixed on creation.',
    index: false,
  })
  inventory!: Reference;

  @Variables({ help: 'Variables of the group, JSON or YAML.' })
  variables!: string;

  /** True if a source created the group, false if a user created it. */
  @Bool({ internal: true })
  is_imported!: boolean;
}

/** Host in a group. */
@Entity('group_hosts')
@Index('group_hosts_key', ['group_id', 'host_id'], { unique: true })
export class GroupHost extends LinkRow {
  @LinkTo('groups')
  group_id!: number;

  @LinkTo('hosts', { index: true })
  host_id!: number;
}

/** Group within a group. */
@Entity('group_children')
@Index('group_children_key', ['child_id', 'parent_id'], { unique: true })
export class GroupChild extends LinkRow {
  @LinkTo('groups')
  child_id!: number;

  @LinkTo('groups', { index: true })
  parent_id!: number;
}

/** Label of an inventory. */
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

/**
 * Facts of a host that `setup` returned, in a separate table, so that reading hosts does not read
 * facts.
 */
@Entity('host_facts')
// By `jsonb_path_ops`, see docs/decisions/0073-indexes.md.
@Index('host_facts_facts_idx', { synchronize: false })
export class HostFacts {
  @PrimaryColumn('integer')
  @ForeignKey('hosts', CASCADE)
  host_id!: number;

  @Column('json')
  facts!: Record<string, unknown>;
}

/** Other facts that playbooks of a project cache (docs/decisions/0133-facts.md). */
@Entity('host_project_facts')
@Index('host_project_facts_facts_idx', { synchronize: false })
export class HostProjectFacts {
  @PrimaryColumn('integer')
  @ForeignKey('hosts', CASCADE)
  host_id!: number;

  @PrimaryColumn('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  @Index()
  project_id!: number;

  @Column('json')
  facts!: Record<string, unknown>;
}
