import { hasRole, hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, everyone, type Actor } from '../common/access.js';
import {
  defineResource,
  hasMany,
  manyToMany,
  resource,
} from '../common/resource/define-resource.js';
import { ident, or, sql, type Sql } from '../database/sql.js';
import { preferredGroups } from '../instances/sublists.js';
import { labeled } from '../labels/label-links.js';
import { isClaimed } from './import/imported-objects.repository.js';
import { GroupHooks } from './group.hooks.js';
import { hostFilterCondition } from './host-filter.js';
import { HostHooks } from './host.hooks.js';
import { InventoryHooks } from './inventory.hooks.js';
import { Group } from './group.entity.js';
import { Host } from './host.entity.js';
import { Inventory } from './inventory.entity.js';
import {
  HostExtension,
  HOST_SHOWS,
  InventoryExtension,
  INVENTORY_SHOWS,
} from './inventory.extensions.js';
import { sourceCounts } from './source-counts.js';

const mayAddInventories = (actor: Actor): Sql =>
  holdsAny('organization', ['inventory_admin_role'], actor);

/**
 * Returns the stored counters of inventories for summaries. Counters of smart inventories are null in
 * summaries, because they would have to be computed for every page that refers to the inventory.
 */
const storedCounters = (alias: string): Record<string, Sql> =>
  Object.fromEntries(
    ['has_active_failures', 'total_hosts', 'hosts_with_active_failures'].map((name) => [
      name,
      sql`CASE WHEN ${ident(alias, 'kind')} <> 'smart' THEN ${ident(alias, name)} END`,
    ]),
  );

export const inventories = defineResource({
  path: 'inventories',
  type: 'inventory',
  entity: Inventory,
  hooks: InventoryHooks,
  naturalKey: ['name', 'organization'],
  unique: {
    inventories_organization_name_key: 'Inventory with this Name and Organization already exists.',
  },
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['inventory_admin_role'] } },
    { field: 'update_role', impliedBy: ['admin_role'] },
    { field: 'adhoc_role', impliedBy: ['admin_role'] },
    { field: 'use_role', impliedBy: ['adhoc_role'] },
    {
      field: 'read_role',
      impliedBy: ['update_role', 'use_role', 'admin_role'],
      impliedByParent: { organization: ['auditor_role'] },
    },
  ],
  summary: [
    'id',
    'name',
    'description',
    'has_active_failures',
    'total_hosts',
    'hosts_with_active_failures',
    'total_groups',
    'organization_id',
    'kind',
  ],
  summarize: (alias) => ({ ...storedCounters(alias), ...sourceCounts(ident(alias, 'id')) }),
  capabilities: { edit: 'change', delete: 'delete', copy: 'copy', adhoc: 'adhoc' },
  pages: {
    list: { about: 'The machines that playbooks run on.' },
    sections: {
      Contents: ['kind', 'host_filter', 'variables', 'prevent_instance_group_fallback'],
    },
  },
  policy: {
    read: hasRole('inventory', 'read_role'),
    add: () => everyone,
    mayAdd: mayAddInventories,
    change: hasRole('inventory', 'admin_role'),
    delete: hasRole('inventory', 'admin_role'),
    actions: {
      use: hasRole('inventory', 'use_role'),
      adhoc: hasRole('inventory', 'adhoc_role'),
      update: hasRole('inventory', 'update_role'),
      filter: hasRoleOn('organization_id', 'organization', 'inventory_admin_role'),
      copy: allOf(
        hasRole('inventory', 'read_role'),
        hasRoleOn('organization_id', 'organization', 'inventory_admin_role'),
      ),
    },
  },
  aliases: { destination_inventories: 'inventory_input_inventories' },
  relations: {
    hosts: hasMany('host', 'inventory'),
    groups: hasMany('group', 'inventory'),
    job_templates: hasMany('job_template', 'inventory'),
    inventory_sources: hasMany('inventory_source', 'inventory'),
    ad_hoc_commands: hasMany('ad_hoc_command', 'inventory'),
    input_inventories: manyToMany('inventory', {
      table: 'inventory_inputs',
      sourceColumn: 'inventory_id',
      targetColumn: 'input_id',
      ordered: true,
    }),
    labels: labeled('inventory'),
    instance_groups: preferredGroups('inventory'),
  },
  unhidden: (alias) => sql`NOT ${ident(alias, 'pending_deletion')}`,
  deletesLater: true,
  extension: InventoryExtension,
  shows: INVENTORY_SHOWS,
});

/** Returns the relation to the sources that delivered a host or a group. */
const importedBy = (type: 'host' | 'group') =>
  manyToMany('inventory_source', {
    table: `inventory_source_${type}s`,
    sourceColumn: `${type}_id`,
  });

const memberPolicy = {
  read: hasRoleOn('inventory_id', 'inventory', 'read_role'),
  add: () => everyone,
  mayAdd: (actor: Actor) =>
    or(mayAddInventories(actor), holdsAny('inventory', ['admin_role'], actor)),
  change: hasRoleOn('inventory_id', 'inventory', 'admin_role'),
  delete: hasRoleOn('inventory_id', 'inventory', 'admin_role'),
  actions: { adhoc: hasRoleOn('inventory_id', 'inventory', 'adhoc_role') },
};

export const hosts = defineResource({
  path: 'hosts',
  type: 'host',
  entity: Host,
  counter: { table: 'inventories', total: 'total_hosts', columns: { inventory_id: 'id' } },
  hooks: HostHooks,
  naturalKey: ['name', 'inventory'],
  auditParent: { field: 'inventory', type: 'inventory' },
  unique: { hosts_inventory_name_key: 'Host with this Name and Inventory already exists.' },
  summary: ['id', 'name', 'description', 'has_active_failures'],
  expression: {
    parameter: 'host_filter',
    help: 'Filter of a smart inventory: `name=web and (groups__name=prod or ansible_facts__a=1)`.',
    searchedNames: ['ansible_facts'],
    compile: hostFilterCondition,
  },
  summarize: (alias) => ({ has_inventory_sources: isClaimed(ident(alias, 'id')) }),
  policy: memberPolicy,
  aliases: {
    job_events_as_primary_host: 'job_events',
    constructed_host_summaries: 'job_host_summary_constructed_host',
  },
  relations: {
    groups: manyToMany('group', { table: 'group_hosts', sourceColumn: 'host_id' }),
    job_host_summaries: {
      kind: 'computed',
      target: () => resource('job_host_summary'),
      condition: (id, alias) => sql`
        (${ident(alias, 'host_id')} = ${id} OR ${ident(alias, 'constructed_host_id')} = ${id})`,
    },
    job_events: hasMany('job_event', 'host'),
    inventory_sources: importedBy('host'),
    ad_hoc_command_events: hasMany('ad_hoc_command_event', 'host'),
  },
  extension: HostExtension,
  shows: HOST_SHOWS,
});

export const groups = defineResource({
  path: 'groups',
  type: 'group',
  entity: Group,
  counter: { table: 'inventories', total: 'total_groups', columns: { inventory_id: 'id' } },
  hooks: GroupHooks,
  naturalKey: ['name', 'inventory'],
  auditParent: { field: 'inventory', type: 'inventory' },
  unique: { groups_inventory_name_key: 'Group with this Name and Inventory already exists.' },
  policy: memberPolicy,
  relations: {
    hosts: manyToMany('host', { table: 'group_hosts', sourceColumn: 'group_id' }),
    children: manyToMany('group', {
      table: 'group_children',
      sourceColumn: 'parent_id',
      targetColumn: 'child_id',
    }),
    parents: manyToMany('group', {
      table: 'group_children',
      sourceColumn: 'child_id',
      targetColumn: 'parent_id',
    }),
    inventory_sources: importedBy('group'),
  },
});
