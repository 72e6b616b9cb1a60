import { refersTo } from '../../access/predicates.js';
import {
  defineResource,
  resource,
  type ResourceOptions,
} from '../../common/resource/define-resource.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { ident, sql, TRUE } from '../../database/sql.js';
import { unifiedJobs } from '../jobs.resource.js';
import { AdHocCommandEvent, InventoryUpdateEvent } from './plain-event.entity.js';

export const adHocCommandEvents = plainEvents({
  path: 'ad_hoc_command_events',
  type: 'ad_hoc_command_event',
  entity: AdHocCommandEvent,
  runs: 'ad_hoc_command',
});

export const inventoryUpdateEvents = plainEvents({
  path: 'inventory_update_events',
  type: 'inventory_update_event',
  entity: InventoryUpdateEvent,
  runs: 'inventory_update',
});

interface PlainEvents<Schema extends object> extends Pick<
  ResourceOptions<Schema>,
  'path' | 'type' | 'entity'
> {
  /** Type of the runs. */
  runs: string;
}

/** Declares the events of one type of runs, which are rows of the table of job events. */
function plainEvents<Schema extends object>({ runs, ...named }: PlainEvents<Schema>) {
  return defineResource({
    ...named,
    part: (alias) => sql`${ident(alias, 'job_id')} IN (
      ${selectRows(resource(runs), 'run', ident('run', 'id'), TRUE)})`,
    orderBy: ['id'],
    capabilities: {},
    audited: false,
    summary: ['id', 'event', 'counter'],
    policy: { read: refersTo('job_id', 'unified_job', unifiedJobs.policy.read) },
  });
}
