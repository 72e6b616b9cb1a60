import { hasRoleOn, refersTo } from '../../access/predicates.js';
import { anyOf } from '../../common/access.js';
import { defineResource } from '../../common/resource/define-resource.js';
import { jobEventExtension, JOB_EVENT_SHOWS } from './job-event-extension.js';
import { JobEvent, JobHostSummary } from './job-event.entity.js';
import { jobs, unifiedJobs } from '../jobs.resource.js';
import { eventTotals } from '../run-total.entity.js';

export const jobEvents = defineResource({
  path: 'job_events',
  type: 'job_event',
  entity: JobEvent,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'event', 'counter'],
  unique: { job_events_job_counter_key: 'The event is stored already.' },
  policy: { read: refersTo('job_id', 'unified_job', unifiedJobs.policy.read) },
  counter: eventTotals(unifiedJobs.policy.read),
  extend: jobEventExtension,
  shows: JOB_EVENT_SHOWS,
});

export const jobHostSummaries = defineResource({
  path: 'job_host_summaries',
  type: 'job_host_summary',
  entity: JobHostSummary,
  orderBy: ['-id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'failed'],
  unique: { job_host_summaries_job_host_key: 'The host is summarised already.' },
  policy: {
    read: anyOf(
      refersTo('job_id', 'unified_job', jobs.policy.read),
      refersTo('host_id', 'host', hasRoleOn('inventory_id', 'inventory', 'read_role')),
    ),
  },
});
