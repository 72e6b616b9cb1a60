import { hasRoleOn, through } from '../../access/predicates.js';
import { anyOf } from '../../common/access.js';
import { defineResource } from '../../common/resource/define-resource.js';
import { jobEventExtension, JOB_EVENT_SHOWS } from './job-event-extension.js';
import { JobEventSchema, JobHostSummarySchema } from './job-event.schema.js';
import { jobs, unifiedJobs } from '../jobs.resource.js';
import { eventTotals } from '../run-totals.js';

export const jobEvents = defineResource({
  path: 'job_events',
  type: 'job_event',
  schema: JobEventSchema,
  table: 'job_events',
  orderBy: ['id'],
  primaryKey: ['id', 'job'],
  capabilities: {},
  audited: false,
  summary: ['id', 'event', 'counter'],
  indexes: [
    { name: 'job_events_host_id_idx', columns: ['host_id'] },
    { name: 'job_events_created_idx', columns: ['created', 'id'] },
  ],
  unique: [
    {
      name: 'job_events_job_counter_key',
      columns: ['job_id', 'counter'],
      field: '__all__',
      message: 'The event is stored already.',
    },
  ],
  policy: { read: through('job_id', 'unified_job', unifiedJobs.policy.read) },
  counter: eventTotals(unifiedJobs.policy.read),
  extend: jobEventExtension,
  shows: JOB_EVENT_SHOWS,
});

export const jobHostSummaries = defineResource({
  path: 'job_host_summaries',
  type: 'job_host_summary',
  schema: JobHostSummarySchema,
  table: 'job_host_summaries',
  orderBy: ['-id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'failed'],
  indexes: [
    {
      name: 'job_host_summaries_constructed_host_id_idx',
      columns: ['constructed_host_id'],
      where: '(constructed_host_id IS NOT NULL)',
    },
  ],
  unique: [
    {
      name: 'job_host_summaries_job_host_key',
      columns: ['job_id', 'host_name'],
      field: '__all__',
      message: 'The host is summarised already.',
    },
  ],
  policy: {
    read: anyOf(
      through('job_id', 'unified_job', jobs.policy.read),
      through('host_id', 'host', hasRoleOn('inventory_id', 'inventory', 'read_role')),
    ),
  },
});
