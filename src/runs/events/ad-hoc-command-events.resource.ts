import { refersTo } from '../../access/predicates.js';
import { defineResource, resource } from '../../common/resource/define-resource.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { ident, sql, TRUE } from '../../database/sql.js';
import { AdHocCommandEvent } from './plain-event.entity.js';
import { unifiedJobs } from '../jobs.resource.js';

/** The events of ad hoc commands, a subset of the events of all runs. */
export const adHocCommandEvents = defineResource({
  path: 'ad_hoc_command_events',
  type: 'ad_hoc_command_event',
  entity: AdHocCommandEvent,
  part: (alias) => sql`${ident(alias, 'job_id')} IN (
    ${selectRows(resource('ad_hoc_command'), 'cmd', ident('cmd', 'id'), TRUE)})`,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'event', 'counter'],
  policy: { read: refersTo('job_id', 'unified_job', unifiedJobs.policy.read) },
});
