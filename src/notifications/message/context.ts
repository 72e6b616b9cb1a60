import { mapValues } from '../../common/records.js';
import { HOST_STATUS_KEYS, JOB_KEYS, SUMMARY_KEYS, pick } from './allow-list.js';
import { hostSummariesOf, hostTotalsOf, jobMetadataOf } from './job-metadata.js';
import type { MessageFacts, MessageRunKind } from './run-facts.js';

/** Variables of a message template. */
export type MessageContext = Readonly<Record<string, unknown>>;

const FRIENDLY_NAME: Readonly<Record<MessageRunKind, string>> = {
  job: 'Job',
  workflow_job: 'Workflow Job',
  project_update: 'Project Update',
  inventory_update: 'Inventory Update',
  ad_hoc_command: 'AdHoc Command',
  system_job: 'System Job',
};

export const isRunKind = (type: string): type is MessageRunKind =>
  Object.hasOwn(FRIENDLY_NAME, type);

const METADATA_INDENT = 4;

/**
 * Paths of objects with user-defined keys. When a template is saved, any key below these paths is
 * accepted, because only a run determines which keys exist.
 */
export const OPEN_PATHS: readonly string[] = ['job.artifacts', 'host_summaries'];

/** Returns the variables of a run (docs/contract/notifications.md#what-templates-may-read). */
export function contextOf(facts: MessageFacts): MessageContext {
  const { representation: run } = facts;
  return {
    job: {
      ...pick(run, JOB_KEYS),
      ...approvalVariables(facts),
      host_status_counts: hostStatusCounts(facts),
      summary_fields: summaryOf(run.summary_fields),
    },
    job_friendly_name: FRIENDLY_NAME[facts.kind],
    url: facts.uiUrl,
    job_metadata: JSON.stringify(jobMetadataOf(facts), null, METADATA_INDENT),
    ...approvalVariables(facts),
    hosts: hostTotalsOf(facts.hosts),
    host_summaries: hostSummariesOf(facts.hosts),
  };
}

function approvalVariables({ approval }: MessageFacts): Record<string, string> {
  return {
    approval_status: approval?.status ?? '',
    approval_node_name: approval?.nodeName ?? '',
    workflow_url: approval?.workflowUrl ?? '',
  };
}

function summaryOf(summaryFields: unknown): Record<string, unknown> {
  const links = pick(summaryFields, Object.keys(SUMMARY_KEYS));
  return mapValues(links, (summary, link) => pick(summary, SUMMARY_KEYS[link] ?? []));
}

/** Returns the number of hosts for each result that occurred. */
function hostStatusCounts({ hosts }: MessageFacts): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const host of Object.values(hosts ?? {})) {
    for (const key of HOST_STATUS_KEYS) {
      if (Number(host[key]) > 0) counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return counts;
}
