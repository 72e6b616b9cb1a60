import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  list,
  object,
  orNull,
  STRING,
} from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-summaries.js';
import { sql } from '../database/sql.js';
import { instantOf } from '../database/together.js';
import { groupsShownOf } from './groups.repository.js';
import { HostRuns } from './inventory-uses.js';

/** Members of a host that its summary shows at most. */
const SHOWN = 5;

const NO_SOURCES = {
  has_inventory_sources: BOOLEAN,
  total_inventory_sources: INTEGER,
  inventory_sources_with_failures: INTEGER,
};

export const INVENTORY_SHOWS: ShownBesides = {
  fields: NO_SOURCES,
  summary_fields: { labels: LABEL_SUMMARY },
  summary: NO_SOURCES,
};

/** The product has no inventory sources; clients read these all the same. */
export async function inventoryExtension(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const fields = {
    has_inventory_sources: false,
    total_inventory_sources: 0,
    inventory_sources_with_failures: 0,
  };
  const ids = rows.map(({ id }) => id);
  const labels = await labelSummaries(resource('inventory'), ids, context);
  return new Map(ids.map((id) => [id, { fields, summary_fields: { labels: labels.get(id) } }]));
}

const NAMED = { id: INTEGER, name: STRING };

export const HOST_SHOWS: ShownBesides = {
  fields: { has_inventory_sources: BOOLEAN, ansible_facts_modified: orNull(INSTANT) },
  summary_fields: {
    groups: object({ count: INTEGER, results: list(object(NAMED)) }),
    recent_jobs: list(
      object({ ...NAMED, type: STRING, status: STRING, finished: orNull(INSTANT) }),
    ),
  },
  summary: { has_inventory_sources: BOOLEAN },
};

interface Shown {
  what: 'group' | 'job';
  host_id: number;
  id: number;
  name: string;
  status: string | null;
  finished: string | null;
  total: number;
}

/** Some groups and the latest jobs of each host, in one statement for the page. */
export async function hostExtension(
  rows: readonly Row[],
  { together, actor, find }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const found = await together.ask<Shown>(sql`
    SELECT 'group' AS what, host.id AS host_id, grp.id, grp.name, NULL AS status,
      NULL::timestamptz AS finished, grp.total
    FROM unnest(${ids}::int[]) AS host (id) CROSS JOIN LATERAL (
      ${groupsShownOf(sql`host.id`, SHOWN)}) AS grp
    UNION ALL
    SELECT 'job', host.id, job.id, job.name, job.status, job.finished, 0
    FROM unnest(${ids}::int[]) AS host (id) CROSS JOIN LATERAL (
      ${find(HostRuns).latestOfHost(sql`host.id`, actor, SHOWN)}) AS job`);
  const byHost = new Map<number, Shown[]>(ids.map((id) => [id, []]));
  for (const one of found) byHost.get(one.host_id)?.push(one);
  return new Map(ids.map((id) => [id, hostExtensionOf(byHost.get(id) ?? [])]));
}

function hostExtensionOf(shown: readonly Shown[]): Extension {
  const groups = shown.filter(({ what }) => what === 'group');
  const jobs = shown.filter(({ what }) => what === 'job');
  return {
    fields: { has_inventory_sources: false, ansible_facts_modified: null },
    summary_fields: {
      groups: {
        count: groups[0]?.total ?? 0,
        results: groups.map(({ id, name }) => ({ id, name })),
      },
      recent_jobs: jobs.map(({ id, name, status, finished }) => ({
        id,
        name,
        type: 'job',
        status,
        finished: instantOf(finished),
      })),
    },
  };
}
