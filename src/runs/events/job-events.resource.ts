import { hasRoleOn, refersTo } from '../../access/predicates.js';
import { anyOf } from '../../common/access.js';
import { defineResource, findResource, type RowOf } from '../../common/resource/define-resource.js';
import { JobEvent } from './job-event.entity.js';
import { JobHostSummary } from './job-host-summary.entity.js';
import { jobs, unifiedJobs } from '../jobs.resource.js';
import { eventTotals } from '../run-total.entity.js';
import * as json from '../../common/fields/json-schema.js';
import type { Extension, RepresentContext, ShownMembers } from '../../common/resource/extension.js';
import { runsOfEvents, type RunOfEvents } from '../runs.repository.js';

const JOB_EVENT_SHOWS: ShownMembers = {
  summary_fields: {
    job: json.object(
      {
        id: json.WIDE_INTEGER,
        type: json.STRING,
        name: json.STRING,
        description: json.STRING,
        status: json.STRING,
        failed: json.BOOLEAN,
        elapsed: json.NUMBER,
        job_template_id: json.INTEGER,
        job_template_name: json.orNull(json.STRING),
      },
      ['job_template_id', 'job_template_name'],
    ),
    role: json.STRING,
  },
};

/**
 * Returns `related.job` and `summary_fields.job` of events, with the template of the run
 * (docs/contract/runs.md#events).
 */
async function jobEventExtension(
  rows: readonly RowOf<JobEvent>[],
  { batch }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = [...new Set(rows.map((row) => row.job_id))];
  const runs = await batch.rows<RunOfEvents>(runsOfEvents(ids));
  const byId = new Map(runs.map((run) => [run.id, run]));
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = byId.get(row.job_id);
      return run ? [[row.id, extensionOf(row, run)]] : [];
    }),
  );
}

function extensionOf(
  row: RowOf<JobEvent>,
  { job_template_id, job_template_name, ...run }: RunOfEvents,
): Extension {
  const template =
    run.type === 'job' && job_template_id !== null ? { job_template_id, job_template_name } : {};
  const url = findResource(run.type)?.url(run.id);
  return {
    ...(url ? { related: { job: url } } : {}),
    summary_fields: {
      job: { ...run, ...template },
      ...(row.role ? { role: row.role } : {}),
    },
  };
}

export const jobEvents = defineResource({
  path: 'job_events',
  type: 'job_event',
  entity: JobEvent,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'event', 'counter'],
  unique: { job_events_job_counter_key: 'The job already has an event with this counter.' },
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
  unique: { job_host_summaries_job_host_key: 'The job already has a summary of this host.' },
  policy: {
    read: anyOf(
      refersTo('job_id', 'unified_job', jobs.policy.read),
      refersTo('host_id', 'host', hasRoleOn('inventory_id', 'inventory', 'read_role')),
    ),
  },
});
