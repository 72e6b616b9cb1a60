import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { everyone } from '../common/access.js';
import { defineResource, hasMany, manyToMany } from '../common/resource/define-resource.js';
import { or } from '../database/sql.js';
import { templateNotifications } from '../templates/template-notifications.js';
import { InventorySourceHooks } from './inventory-source.hooks.js';
import { InventorySource } from './inventory-source.entity.js';
import { CONSTRUCTED } from './source-kinds.js';
import { InventorySourceExtension, SOURCE_SHOWS } from './inventory-source.extension.js';

/** Returns a predicate: the caller has a role on the inventory. */
export const onInventory = (role: string) => hasRoleOn('inventory_id', 'inventory', role);

/** Returns the relation to the objects that the source delivered. */
const imported = (type: 'host' | 'group') =>
  manyToMany(type, { table: `inventory_source_${type}s`, sourceColumn: 'inventory_source_id' });

/**
 * Administrators of an inventory manage its sources; other users can get permission to update it.
 */
export const inventorySources = defineResource({
  path: 'inventory_sources',
  type: 'inventory_source',
  entity: InventorySource,
  discriminator: 'inventory_source',
  hooks: InventorySourceHooks,
  naturalKey: ['name', 'inventory'],
  summary: ['id', 'name', 'description', 'source', 'status', 'last_job_run'],
  auditParent: { field: 'inventory', type: 'inventory' },
  aliases: {
    last_updated: 'last_job_run',
    last_update_failed: 'last_job_failed',
    last_update: 'last_job',
    current_update: 'current_job',
    credentials: 'credential',
  },
  unique: {
    unified_job_templates_source_name_key:
      'InventorySource with this (name, inventory) combination already exists.',
  },
  capabilities: { edit: 'change', delete: 'delete', start: 'update', schedule: 'update' },
  usable: { delete: ({ source }) => source !== CONSTRUCTED.value },
  policy: {
    read: onInventory('read_role'),
    add: () => everyone,
    mayAdd: (actor) =>
      or(
        holdsAny('organization', ['inventory_admin_role'], actor),
        holdsAny('inventory', ['admin_role'], actor),
      ),
    change: onInventory('admin_role'),
    delete: onInventory('admin_role'),
    actions: {
      update: onInventory('update_role'),
      attach_notifications: onInventory('read_role'),
    },
  },
  relations: {
    schedules: hasMany('schedule', 'unified_job_template'),
    ...templateNotifications('started', 'success', 'error'),
    inventory_updates: hasMany('inventory_update', 'inventory_source'),
    hosts: imported('host'),
    groups: imported('group'),
  },
  destinations: [
    {
      decidedBy: [
        ...['source', 'source_project', 'source_path', 'source_vars', 'scm_branch'],
        'execution_environment',
      ],
      protects: ['credential'],
    },
  ],
  extension: InventorySourceExtension,
  shows: SOURCE_SHOWS,
});
