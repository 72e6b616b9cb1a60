import { refersTo } from '../../access/predicates.js';
import { defineResource, resource } from '../../common/resource/define-resource.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { ident, sql, TRUE } from '../../database/sql.js';
import { InventoryUpdateEvent } from './plain-event.entity.js';
import { unifiedJobs } from '../jobs.resource.js';

/** The events of inventory updates, a subset of the events of all runs. */
export const inventoryUpdateEvents = defineResource({
  path: 'inventory_update_events',
  type: 'inventory_update_event',
  entity: InventoryUpdateEvent,
  part: (alias) => sql`${ident(alias, 'job_id')} IN (
    ${selectRows(resource('inventory_update'), 'upd', ident('upd', 'id'), TRUE)})`,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'event', 'counter'],
  policy: { read: refersTo('job_id', 'unified_job', unifiedJobs.policy.read) },
});
