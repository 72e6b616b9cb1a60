import { truncateText } from '../../common/fields/text.js';
import type { HostCounters, MessageFacts, WorkflowNodeFacts } from './run-facts.js';
import { isRecord, tableOf } from '../../common/records.js';

/** Counters of the `hosts` object in a message. */
const TOTALS = ['ok', 'changed', 'dark', 'failures', 'skipped'] as const;

/**
 * Maximum length of each text of a run in a message. An event service accepts half a megabyte in
 * total.
 */
const MAX_TEXT = 65_536;

/**
 * Maximum number of hosts that are listed individually, because more hosts could add megabytes to
 * the message. The totals include all hosts.
 */
const MAX_HOST_SUMMARIES = 200;

/**
 * Returns the data of a run for a message (docs/contract/notifications.md#body-of-a-run): totals in
 * `hosts`, and the counters of each host in `host_summaries`.
 */
export function jobMetadataOf(facts: MessageFacts): Record<string, unknown> {
  return withBoundedTexts(metadataOf(facts));
}

function metadataOf(facts: MessageFacts): Record<string, unknown> {
  const { representation: run, approval } = facts;
  return {
    id: approval ? approval.id : run.id,
    name: approval ? approval.nodeName : run.name,
    url: approval ? approval.workflowUrl : facts.uiUrl,
    created_by: nameIn(run, 'created_by', 'username') ?? 'None',
    started: isoOffset(approval ? approval.started : run.started),
    finished: isoOffset(approval ? approval.finished : run.finished),
    status: approval ? approval.status : run.status,
    traceback: facts.traceback,
    ...(approval ? { extra_vars: facts.extraVars } : detailsOf(facts)),
  };
}

/** Shortens texts that are too long and lists their keys under `truncated`. */
function withBoundedTexts(metadata: Record<string, unknown>): Record<string, unknown> {
  const clipped = Object.entries(metadata).flatMap(([key, value]) =>
    typeof value === 'string' && value.length > MAX_TEXT
      ? [[key, truncateText(value, MAX_TEXT)] as const]
      : [],
  );
  if (clipped.length === 0) return metadata;
  return { ...metadata, ...Object.fromEntries(clipped), truncated: clipped.map(([key]) => key) };
}

/** Returns the sums of all hosts' counters. */
export function hostTotalsOf(
  hosts: MessageFacts['hosts'],
): Record<(typeof TOTALS)[number], number> {
  const all = Object.values(hosts ?? {});
  return tableOf(TOTALS, (name) => all.reduce((total, host) => total + host[name], 0));
}

/**
 * Returns the counters by host name. If there are too many hosts, failed and unreachable hosts come
 * first.
 */
export function hostSummariesOf(hosts: MessageFacts['hosts']): Record<string, HostCounters> {
  const entries = Object.entries(hosts ?? {});
  if (entries.length <= MAX_HOST_SUMMARIES) return Object.fromEntries(entries);
  const rank = ([, host]: [string, HostCounters]): number => (host.failed || host.dark ? 0 : 1);
  const sorted = entries.toSorted((left, right) => rank(left) - rank(right));
  return Object.fromEntries(sorted.slice(0, MAX_HOST_SUMMARIES));
}

/** Returns `Workflow job summary:` and a line for every node. */
function workflowSummary(nodes: readonly WorkflowNodeFacts[]): string {
  const lines = nodes.map(({ node, job }) =>
    job
      ? `- node #${node} spawns job #${job.id}, "${job.name}", which finished with status ${job.status}.`
      : `- node #${node} spawns no job.`,
  );
  return ['Workflow job summary:', '', ...lines].join('\n');
}

function detailsOf(facts: MessageFacts): Record<string, unknown> {
  const { representation: run, credential } = facts;
  const inventory = nameIn(run, 'inventory', 'name');
  const prompts = { limit: run.limit ?? '', extra_vars: facts.extraVars };
  switch (facts.kind) {
    case 'job':
      return {
        inventory,
        project: nameIn(run, 'project', 'name'),
        playbook: run.playbook ?? '',
        credential,
        ...prompts,
        ...hostDetails(facts),
      };
    case 'ad_hoc_command':
      return { inventory, credential, ...prompts, ...hostDetails(facts) };
    case 'workflow_job':
      return { body: workflowSummary(facts.nodes ?? []), inventory, ...prompts };
    default:
      return {};
  }
}

function hostDetails({ hosts }: MessageFacts): Record<string, unknown> {
  const host_summaries = hostSummariesOf(hosts);
  const omitted = Object.keys(hosts ?? {}).length - Object.keys(host_summaries).length;
  return {
    hosts: hostTotalsOf(hosts),
    host_summaries,
    ...(omitted > 0 ? { host_summaries_omitted: omitted } : {}),
  };
}

function nameIn(run: MessageFacts['representation'], link: string, key: string): string | null {
  const summary = isRecord(run.summary_fields) ? run.summary_fields[link] : undefined;
  const name = isRecord(summary) ? summary[key] : undefined;
  return typeof name === 'string' ? name : null;
}

/** Returns a time with the offset `+00:00`, which messages use instead of the `Z` of the API. */
function isoOffset(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString().replace(/Z$/, '+00:00');
  return typeof value === 'string' ? value.replace(/Z$/, '+00:00') : null;
}
