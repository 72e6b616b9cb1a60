import { anyOf, isActor } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { hasTemplate } from '../runs/jobs.resource.js';
import { RunHooks } from '../runs/run.hooks.js';
import { RUN_TOTALS } from '../runs/run-total.entity.js';
import { onInventory } from './inventory-sources.resource.js';
import { InventoryUpdateExtension, UPDATE_SHOWS } from './inventory-update.extension.js';
import { InventoryUpdate } from './inventory-update.entity.js';

export const inventoryUpdates = defineResource({
  path: 'inventory_updates',
  type: 'inventory_update',
  entity: InventoryUpdate,
  discriminator: 'inventory_update',
  orderBy: ['id'],
  pages: { linkedOrder: '-id' },
  auditParent: { field: 'inventory', type: 'inventory' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed'],
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: hasTemplate },
  policy: {
    read: onInventory('read_role'),
    delete: onInventory('admin_role'),
    actions: {
      start: onInventory('update_role'),
      cancel: anyOf(isActor('created_by_id'), onInventory('admin_role')),
    },
  },
  aliases: { credentials: 'credential' },
  relations: {
    events: hasMany('job_event', 'job'),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: InventoryUpdateExtension,
  shows: UPDATE_SHOWS,
});
