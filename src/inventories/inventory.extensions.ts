import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { entryOf } from '../common/invariants.js';
import { extendEach, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-links.js';
import { ident, join, sql } from '../database/sql.js';
import { instantOf } from '../database/instants.js';
import { groupsShownOf } from './groups.repository.js';
import { isClaimed } from './import/imported-objects.repository.js';
import { originalsOf, type MemberCount } from './hosts.repository.js';
import { hostedInventory, isSmart } from './inventory-members.js';
import { HostRuns } from './inventory-uses.js';
import { MemberCounts } from './member-counts.service.js';
import { sourceCounts } from './source-counts.js';

/** Maximum number of groups, and of jobs, in a host's summary. */
const MAX_MEMBERS = 5;

const SOURCES = {
  has_inventory_sources: json.BOOLEAN,
  total_inventory_sources: json.INTEGER,
  inventory_sources_with_failures: json.INTEGER,
};

export const INVENTORY_SHOWS: ShownMembers = {
  fields: {
    ...SOURCES,
    has_active_failures: json.orNull(json.BOOLEAN),
    total_hosts: json.orNull(json.INTEGER),
    hosts_with_active_failures: json.orNull(json.INTEGER),
  },
  related: ['constructed_url'],
  summary_fields: { labels: LABEL_SUMMARY },
  summary: SOURCES,
};

interface CountedSources {
  id: number;
  has_inventory_sources: boolean;
  total_inventory_sources: number;
  inventory_sources_with_failures: number;
}

/**
 * Adds the number of sources of each inventory, its labels, and the counters of smart
 * inventories.
 */
@Injectable()
export class InventoryExtension {
  constructor(private readonly members: MemberCounts) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const ids = rows.map(({ id }) => id);
    const counts = Object.entries(sourceCounts(sql`inv.id`)).map(
      ([name, count]) => sql`${count} AS ${ident(name)}`,
    );
    const [counted, labels] = await Promise.all([
      context.batch.rows<CountedSources>(sql`
        SELECT inv.id, ${join(counts)} FROM unnest(${ids}::int[]) AS inv (id)`),
      labelSummaries(resource('inventory'), ids, context),
    ]);
    // Every reader of the list would otherwise wait for a slow filter in vain.
    const members = await this.members.known(rows.map(hostedInventory).filter(isSmart));
    const fieldsOf = new Map(counted.map(({ id, ...fields }) => [id, fields]));
    return extendEach(rows, ({ id, kind }) => ({
      fields: {
        ...entryOf(fieldsOf, id),
        ...(kind === 'smart' ? countersOf(members.get(id)) : {}),
      },
      related: relatedOf(id, kind),
      summary_fields: { labels: labels.get(id) },
    }));
  }
}

/** Links that smart inventories do not have. */
const NO_GROUPS = {
  groups: null,
  root_groups: null,
  inventory_sources: null,
  update_inventory_sources: null,
  tree: null,
};

/**
 * Returns the counters of a smart inventory, which are computed on demand; null if that takes too long.
 * Other inventories have stored counters.
 */
function countersOf(counted: MemberCount | undefined): Record<string, unknown> {
  const { total, failed } = counted ?? { total: null, failed: null };
  return {
    total_hosts: total,
    hosts_with_active_failures: failed,
    has_active_failures: failed === null ? null : failed > 0,
  };
}

function relatedOf(id: number, kind: unknown): Record<string, string | null> {
  if (kind === 'constructed') return { constructed_url: resource('constructed_inventory').url(id) };
  return { input_inventories: null, ...(kind === 'smart' ? NO_GROUPS : {}) };
}

const NAMED = { id: json.INTEGER, name: json.STRING };

export const HOST_SHOWS: ShownMembers = {
  fields: {
    has_inventory_sources: json.described(json.BOOLEAN, 'True if a source delivered the host.'),
  },
  related: ['original_host'],
  summary_fields: {
    groups: json.object({ count: json.INTEGER, results: json.list(json.object(NAMED)) }),
    recent_jobs: json.list(
      json.object({
        ...NAMED,
        type: json.STRING,
        status: json.STRING,
        finished: json.orNull(json.INSTANT),
      }),
    ),
  },
  summary: { has_inventory_sources: json.BOOLEAN },
};

interface HostDetail {
  kind: 'group' | 'job' | 'source' | 'original';
  host_id: number;
  id: number;
  name: string;
  status: string | null;
  finished: string | null;
  total: number;
}

/**
 * Adds some groups and the latest jobs of each host, a flag for hosts that a source delivered, and links to
 * original hosts, in one statement per page.
 */
@Injectable()
export class HostExtension {
  constructor(private readonly runs: HostRuns) {}

  async extend(
    rows: readonly Row[],
    { batch, actor }: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = rows.map(({ id }) => id);
    const found = await batch.rows<HostDetail>(sql`
      SELECT 'group' AS kind, host.id AS host_id, grp.id, grp.name, NULL AS status,
        NULL::timestamptz AS finished, grp.total
      FROM unnest(${ids}::int[]) AS host (id) CROSS JOIN LATERAL (
        ${groupsShownOf(sql`host.id`, MAX_MEMBERS)}) AS grp
      UNION ALL
      SELECT 'job', host.id, job.id, job.name, job.status, job.finished, 0
      FROM unnest(${ids}::int[]) AS host (id) CROSS JOIN LATERAL (
        ${this.runs.latestOfHost(sql`host.id`, actor, MAX_MEMBERS)}) AS job
      UNION ALL
      SELECT 'source', host.id, 0, '', NULL, NULL, 0 FROM unnest(${ids}::int[]) AS host (id)
      WHERE ${isClaimed(sql`host.id`)}
      UNION ALL
      SELECT 'original', original.host_id, original.id, '', NULL, NULL, 0
      FROM (${originalsOf(ids)}) original`);
    const byHost = new Map<number, HostDetail[]>(ids.map((id) => [id, []]));
    for (const row of found) byHost.get(row.host_id)?.push(row);
    return new Map(ids.map((id) => [id, hostExtensionOf(byHost.get(id) ?? [])]));
  }
}

/** Returns the links of a constructed host to its original host. */
const linksTo = (original: string): Record<string, string> => ({
  original_host: original,
  ansible_facts: `${original}ansible_facts/`,
});

function hostExtensionOf(details: readonly HostDetail[]): Extension {
  const groups = details.filter(({ kind }) => kind === 'group');
  const jobs = details.filter(({ kind }) => kind === 'job');
  const original = details.find(({ kind }) => kind === 'original');
  return {
    ...(original ? { related: linksTo(resource('host').url(original.id)) } : {}),
    fields: { has_inventory_sources: details.some(({ kind }) => kind === 'source') },
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
